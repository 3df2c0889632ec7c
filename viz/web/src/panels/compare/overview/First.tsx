/** The first step that differs in the selected kernel: rule, equation and graph of either side. */
import { useEffect, useRef } from "preact/hooks";
import { Failed } from "../../../parts/Failed";
import { count, short } from "../../../state/format";
import { comparison, firstDifference, nameOfRule, ruleOf, scope } from "../data/store";
import { equationOf } from "../data/rules";
import { counted, firstDifferingRow, passes, walkThrough, watchedPasses } from "../data/walk";
import { mountPair } from "../data/mount";
import { namesOf } from "./Kernels";

export function First() {
  const first = firstDifference.value;
  const chosen = scope.value;
  if (!chosen) return null;
  const step = first && (first.stepB ?? first.stepA);
  const to = (): void => walkThrough(first!.a, first!.b, firstDifferingRow.peek());
  return (
    <section
      class="ov-sec cmp-first"
      data-region="First difference"
      aria-label="First step that differs"
    >
      <div class="ov-h">
        <h3>{first && step === null ? "First pass that differs" : "First step that differs"}</h3>
        <span class="sp" />
        {first && (
          <>
            <span class="t2 mono el" title={`${namesOf(chosen)} / ${first.pass}`}>
              {namesOf(chosen)} / {short(first.pass)}
              {step !== null && ` / ${count(step)}`}
            </span>
            <button
              type="button"
              class="btn sm"
              title="Walk through both from here (Enter)"
              onClick={to}
            >
              Go there
            </button>
          </>
        )}
      </div>
      {first ? <Sides /> : <div class="state">{whyNone()}</div>}
    </section>
  );
}

function whyNone(): string {
  const state = scope.value?.state;
  if (state === "added") return "Only B has this kernel.";
  if (state === "removed") return "Only A has this kernel.";
  const { a, b } = comparison.value!.runs;
  if (a?.edited || b?.edited) {
    const one = a?.edited ? "A" : "B";
    const which = a?.edited && b?.edited ? "Both texts were" : `The text of ${one} was`;
    return `${which} edited and made by no pass: there are no steps. Compare the source.`;
  }
  if (state === "equal") return "Every step of this kernel is the same in A and B.";
  return "Its passes are the same in A and B; what differs is outside of them.";
}

function Sides() {
  const first = firstDifference.value!;
  const problem = watchedPasses.error.value;
  return (
    <>
      <div class="cmp-two">
        <Side side="a" rule={first.ruleA} step={first.stepA} />
        <Side side="b" rule={first.ruleB} step={first.stepB} />
      </div>
      {problem && !passes.value ? (
        <Failed problem={problem} retry={watchedPasses.retry} />
      ) : (
        <Graphs />
      )}
    </>
  );
}

interface SideProps {
  side: "a" | "b";
  rule: number | null;
  step: number | null;
}

function Side({ side, rule, step }: SideProps) {
  const first = firstDifference.value!;
  const equation = equationOf(side, rule);
  const known = ruleOf(side, rule);
  return (
    <div class="cmp-side">
      <div class="row">
        <span class="badge b">{side.toUpperCase()}</span>
        {rule === null ? (
          <span class="t3 el">
            {first[side] === null
              ? "does not have this pass"
              : first[side === "a" ? "b" : "a"] === null
                ? "has this pass alone"
                : step === null
                  ? `no match here${first.node ? ` on ${short(first.node, 60)}` : ""}`
                  : ""}
          </span>
        ) : (
          <b class="mono el" title={nameOfRule(side, rule)}>
            {short(nameOfRule(side, rule))}
          </b>
        )}
        {known?.state === "new" && side === "b" && <span class="badge add">only in B</span>}
        {known?.state === "gone" && side === "a" && <span class="badge del">no longer fires</span>}
        <span class="sp" />
        {step !== null && <span class="t3 num nw">step {count(step)}</span>}
      </div>
      <div class={equation ? "eq el" : "eq el none"} title={equation}>
        {equation || "\u00a0"}
      </div>
    </div>
  );
}

/** The two graphs at that step; a press goes there. */
function Graphs() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => mountPair(host.current!, { row: firstDifferingRow, small: true }), []);
  const c = counted.value;
  return (
    <div class="cmp-graphs">
      <div class="host" ref={host} />
      <div class="pf num" aria-hidden={!passes.value}>
        {passes.value ? (
          <>
            <span class="cdel">− {count(c.removed)} only in A</span>
            <span class="cadd">+ {count(c.added)} only in B</span>
            <span class="cmov">◆ {count(c.moved + c.replaced)} differ</span>
          </>
        ) : (
          <span role="status">Loading both passes</span>
        )}
      </div>
    </div>
  );
}
