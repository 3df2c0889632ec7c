/** Two passes in step: A's graph on the left, B's on the right, or both in one picture. */
import { useEffect, useRef } from "preact/hooks";
import { Failed } from "../../../parts/Failed";
import { count, plural, short } from "../../../state/format";
import { Menu, MenuItem } from "../../../ui/over/Menu";
import { compareLink, numbersOf, show } from "../data/link";
import { comparison, nameOfRule, scope, watchedScope } from "../data/store";
import {
  counted,
  goRow,
  goState,
  inStep,
  passes,
  row,
  states,
  walkThrough,
  watchedPasses,
} from "../data/walk";
import { Sources } from "../source/Sources";
import { namesOf } from "../overview/Kernels";
import { busy, mountPair, stage, stats } from "../data/mount";
import { Rules } from "./Rules";
import { Strip } from "./Strip";

export function Walk() {
  const { text } = compareLink.value;
  return (
    <main class={text ? "cmp-walk with-text" : "cmp-walk"} aria-label="Two passes in step">
      <Header />
      <Panes />
      <Strip />
      {text && <Sources />}
    </main>
  );
}

function Header() {
  const chosen = scope.value;
  return (
    <div class="ph cmp-walk-head" data-region="Passes">
      <button
        type="button"
        class="link nw"
        title="Back to the comparison (Esc)"
        onClick={() => show({ walk: null, row: null, states: null, slot: null })}
      >
        ← Comparison
      </button>
      <span class="vr" />
      {chosen && (
        <span class="mono el t2 mid" title={namesOf(chosen)}>
          {namesOf(chosen)}
        </span>
      )}
      <PassChooser side="a" />
      <span class="t3">against</span>
      <PassChooser side="b" />
      <span class="sp" />
      <Rules />
      <button
        type="button"
        class="btn sm"
        aria-pressed={compareLink.value.whole}
        title="All nodes, not only those around what differs (A)"
        onClick={() => show({ whole: !compareLink.peek().whole }, "replace")}
      >
        All nodes
      </button>
      <button
        type="button"
        class="btn sm"
        aria-pressed={compareLink.value.merged}
        title="Both graphs in one picture (M)"
        onClick={() => show({ merged: !compareLink.peek().merged }, "replace")}
      >
        Merged
      </button>
      <button
        type="button"
        class="btn sm"
        aria-pressed={compareLink.value.text}
        title="The sources of the kernel in both runs (S)"
        onClick={() => show({ text: !compareLink.peek().text }, "replace")}
      >
        Sources
      </button>
    </div>
  );
}

/** Which pass stands on a side: any of the scope, or the other one of the same name. */
function PassChooser({ side }: { side: "a" | "b" }) {
  const all = (watchedScope.answer.value?.passes ?? []).filter((p) => p[side] !== null);
  const [a, b] = numbersOf(compareLink.value.walk ?? "0.0");
  const own = side === "a" ? a : b;
  const at = all.find((p) => p[side] === own);
  const bundle = passes.value?.[side];
  const name = at?.name ?? (own === 0 ? "no pass" : (bundle?.name ?? `pass ${own}`));
  const choose = (to: number): void =>
    side === "a" ? walkThrough(to, b || null) : walkThrough(a || null, to);
  return (
    <Menu
      label={`Pass of ${side.toUpperCase()}: ${short(name, 60)}`}
      title={`Choose the pass of ${side.toUpperCase()}`}
      class="btn sm cmp-pass"
      disabled={!all.length}
      button={
        <>
          <span class="badge b">{side.toUpperCase()}</span>
          <span class="mono el">{short(name)}</span>
        </>
      }
    >
      {(close) =>
        all.map((p) => (
          <MenuItem
            key={p[side]}
            ticked={p[side] === own}
            hint={hintOf(p.state, side === "a" ? p.stepsA : p.stepsB)}
            onClick={() => {
              close();
              choose(p[side]!);
            }}
          >
            <span style={{ paddingLeft: `${12 * Math.min(p.depth, 6)}px` }} class="mono">
              {short(p.name, 80)}
            </span>
          </MenuItem>
        ))
      }
    </Menu>
  );
}

const hintOf = (state: string, steps: number): string =>
  `${state === "equal" ? "" : "◆ "}${plural(steps, "step")}`;

function Panes() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => mountPair(host.current!, { row }), []);
  const { merged, slot } = compareLink.value;
  const problem = watchedPasses.error.value;
  return (
    <div class="panes" data-region="Graphs">
      <div class={merged ? "pts cmp-pts one" : "pts cmp-pts"}>
        {merged ? (
          <div class="pt">
            <b>Merged</b>
            <State side="a" />
            <span class="vr" />
            <State side="b" />
          </div>
        ) : (
          <>
            <div class="pt">
              <State side="a" />
            </div>
            <div class="pt">
              <State side="b" />
            </div>
          </>
        )}
      </div>
      <div class="host" ref={host} />
      <Foot />
      {problem && !passes.value && (
        <div class="cover">
          <Failed problem={problem} retry={watchedPasses.retry} />
        </div>
      )}
      <div class="sr" aria-live="polite">
        {slot !== null && stage.value && passes.value ? stage.value.describe(slot) : ""}
      </div>
      <Working />
    </div>
  );
}

/** Where a side is: its step, the rule that led there, and ways to move it alone. */
function State({ side }: { side: "a" | "b" }) {
  const now = passes.value;
  const at = states.value[side === "a" ? 0 : 1];
  const most = now ? (side === "a" ? now.both.stepsA : now.both.stepsB) : 0;
  const step = now?.[side]?.steps[at - 1];
  const r = row.value;
  const isStill =
    inStep.value && now !== null && r > 0 && now.rows[side][r] === now.rows[side][r - 1];
  const letter = side.toUpperCase();
  return (
    <>
      <span class="badge b">{letter}</span>
      {now && !now[side] ? (
        <span class="t3 el">does not have this pass</span>
      ) : (
        <>
          <span class="cmp-state">
            <button
              type="button"
              class="link plain"
              aria-label={`${letter}: one step back, alone`}
              title={`${letter} one step back, the other side stays`}
              disabled={at === 0}
              onClick={() => goState(side, at - 1)}
            >
              ‹
            </button>
            <span class="num nw">
              {at
                ? `step ${count(at)} of ${count(most)}`
                : `input graph of ${plural(most, "step")}`}
            </span>
            <button
              type="button"
              class="link plain"
              aria-label={`${letter}: one step on, alone`}
              title={`${letter} one step on, the other side stays`}
              disabled={at >= most}
              onClick={() => goState(side, at + 1)}
            >
              ›
            </button>
          </span>
          {isStill ? (
            <span class="t3 el">no match here: stands still</span>
          ) : (
            step && (
              <span class="el t3" title={`by ${nameOfRule(side, step.rule)}`}>
                by <span class="mono">{short(nameOfRule(side, step.rule))}</span>
              </span>
            )
          )}
        </>
      )}
    </>
  );
}

function Foot() {
  const s = stats.value;
  const c = counted.value;
  const now = passes.value;
  return (
    <div class="pf num">
      {now && (
        <>
          <b>Nodes</b>
          <span class="cdel">− {count(c.removed)} only in A</span>
          <span class="cadd">+ {count(c.added)} only in B</span>
          <span class="cmov">◆ {count(c.moved + c.replaced)} differ</span>
          {!inStep.value && (
            <button
              type="button"
              class="link"
              title="Both sides at one row again"
              onClick={() => goRow(row.peek())}
            >
              Not in step. Go in step
            </button>
          )}
        </>
      )}
      <span class="sp" />
      {now?.alignment.truncated && <span class="el">{short(now.alignment.truncated, 120)}</span>}
      {s && now && (
        <>
          <span title="Nodes of B's graph that are drawn">
            {count(s.shown)} of {plural(s.total, "node")}
            <span class="wide"> shown</span>
          </span>
          {s.hidden > 0 && <span class="wide">{count(s.hidden)} farther from what differs</span>}
          <span title="Zoom">{Math.round(s.zoom * 100)}%</span>
        </>
      )}
    </div>
  );
}

function Working() {
  const work = busy.value;
  const isLoading = !passes.value && !watchedPasses.error.value && comparison.value !== null;
  if (!work && !isLoading) return null;
  return (
    <>
      <div class="progress" style={{ top: "26px", bottom: "auto" }}>
        {work && work.progress > 0 ? (
          <i style={{ width: `${Math.round(work.progress * 100)}%` }} />
        ) : (
          <i class="any" />
        )}
      </div>
      <span class="working badge" role="status">
        {work ? work.text : "Loading both passes"}
      </span>
    </>
  );
}
