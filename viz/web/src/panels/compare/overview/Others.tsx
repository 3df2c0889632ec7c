/** The tabs of passes, and of what differs around the runs: versions, flags, machine, failures. */
import { Go } from "../../../parts/Go";
import { passesInStep } from "../../../state/link/links";
import type { ComparedError, PassPair, PassTotal } from "../../../data/messages/compare";
import { count, plural, short } from "../../../state/format";
import { onArrows } from "../../../parts/arrows";
import { Long } from "./Long";
import { compareLink, pairOf, show } from "../data/link";
import { comparison, scope, watchedScope } from "../data/store";
import { change, ratio, ratioText, SIGNS } from "./figures";
import { namesOf } from "./Kernels";

const MOST = 300;

export function PassesTab() {
  return (
    <div class="cmp-split">
      <div class="cmp-col">
        <OfScope />
      </div>
      <div class="cmp-col">
        <Totals />
      </div>
    </div>
  );
}

/** The passes of the selected kernel, in order: the way into each of them. */
function OfScope() {
  const chosen = scope.value;
  const { a: runA, b: runB, all } = compareLink.value;
  if (!chosen) return null;
  const answer = watchedScope.answer.value;
  const passes = answer?.passes ?? [];
  const some = passes.filter((p) => all || p.state !== "equal");
  const hidden = passes.length - passes.filter((p) => p.state !== "equal").length;
  return (
    <section
      class="ov-sec cmp-passes"
      data-region="Passes of the kernel"
      aria-label={`Passes of ${namesOf(chosen)}`}
    >
      <div class="ov-h">
        <h3 class="el">
          Passes of <span class="mono">{namesOf(chosen)}</span>
        </h3>
        <span class="t3 el">and how many matches each has; a press walks through both</span>
      </div>
      <div class="cmp-rows" onKeyDown={onArrows}>
        {some.slice(0, MOST).map((p) => (
          <div class="cmp-pass-line" data-line key={pairOf(p.a, p.b)}>
            <span class={SIGNS[p.state].class} title={SIGNS[p.state].words} aria-hidden="true">
              {SIGNS[p.state].sign}
            </span>
            <Go
              class="link mono el"
              to={passesInStep([runA, runB], p.a ?? 0, p.b ?? 0)}
              label={`${short(p.name)}, ${SIGNS[p.state].words}`}
            >
              <span style={{ paddingLeft: `${12 * Math.min(p.depth, 6)}px` }}>{short(p.name)}</span>
            </Go>
            <span class="num r t2 nw">{sameIn(p)}</span>
            <span class="num r nw">{change({ a: p.a && p.stepsA, b: p.b && p.stepsB })}</span>
          </div>
        ))}
        {!answer && chosen.kind !== "other" && <div class="state">Loading the passes</div>}
        {answer && !some.length && <div class="state">Every pass of this kernel is the same.</div>}
        {chosen.kind === "other" && <div class="state">This is a pass outside of kernels.</div>}
        {!all && hidden > 0 && (
          <button
            type="button"
            class="link num cmp-more"
            onClick={() => show({ all: true }, "replace")}
          >
            {plural(hidden, "equal pass", "equal passes")}. Show
          </button>
        )}
      </div>
    </section>
  );
}

/** What of a pass both runs have, in words. */
function sameIn(p: PassPair): string {
  if (p.a === null || p.b === null) return `only in ${p.a === null ? "B" : "A"}`;
  if (p.stepsA || p.stepsB) return `${count(p.same)} the same`;
  return p.state === "equal" ? "" : "input differs";
}

function Totals() {
  const c = comparison.value!;
  const { all } = compareLink.value;
  const same = (p: PassTotal): boolean => p.steps.a === p.steps.b;
  const some = c.passes.filter((p) => all || !same(p));
  const hidden = c.passes.length - c.passes.filter((p) => !same(p)).length;
  return (
    <section class="ov-sec" data-region="All passes" aria-label="All passes">
      <div class="ov-h">
        <h3>All passes</h3>
        <span class="t3 el">those of one name together, over all kernels</span>
      </div>
      <div class="cmp-rows">
        {some.length > 0 && (
          <table class="cmp-table">
            <thead>
              <tr>
                <th>Pass</th>
                <th class="r">Matches</th>
                <th class="r">Ratio</th>
                <th class="r">Compile time</th>
                <th class="r">Ratio</th>
              </tr>
            </thead>
            <tbody>
              {some.slice(0, MOST).map((p) => (
                <tr key={p.name}>
                  <td class="mono el">{short(p.name)}</td>
                  <td class="r">{change(p.steps)}</td>
                  <td class="r t2">{ratioText(p.steps)}</td>
                  <td class="r">{change(p.us, "us")}</td>
                  <td class="r t2">
                    {ratio(p.us) === null ? "" : ratioText(p.us)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {!some.length && <div class="state">Every pass has as many matches in B as in A.</div>}
        {!all && hidden > 0 && (
          <button
            type="button"
            class="link num cmp-more"
            onClick={() => show({ all: true }, "replace")}
          >
            {plural(hidden, "pass", "passes")} with equally many matches. Show
          </button>
        )}
      </div>
    </section>
  );
}

export function EnvironmentTab() {
  const c = comparison.value!;
  return (
    <section class="ov-sec cmp-wide" data-region="Environment" aria-label="Environment">
      <div class="ov-h">
        <h3>Environment</h3>
        <span class="t3 el">versions, flags, commit and machine, where they differ</span>
      </div>
      <div class="cmp-rows">
        {c.errors.length > 0 && <Errors errors={c.errors} />}
        {c.environment.length > 0 ? (
          <table class="cmp-table cmp-env">
            <thead>
              <tr>
                <th>What</th>
                <th>A</th>
                <th>B</th>
              </tr>
            </thead>
            <tbody>
              {c.environment.slice(0, MOST).map((e) => (
                <tr key={e.what}>
                  <td>{short(e.what)}</td>
                  <td class="mono">
                    <Long text={e.a || "–"} />
                  </td>
                  <td class="mono">
                    <Long text={e.b || "–"} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <div class="state">Both runs were made with the same versions, flags and machine.</div>
        )}
      </div>
    </section>
  );
}

function Errors({ errors }: { errors: readonly ComparedError[] }) {
  const { a, b } = compareLink.value;
  return (
    <ul class="cmp-errors">
      {errors.slice(0, MOST).map((e, i) => (
        <li key={i} class="row">
          <span class="sig del">!</span>
          <span class="badge">{e.a !== null ? "only in A" : "only in B"}</span>
          <Go class="link mono el" to={passesInStep([a, b], e.a ?? 0, e.b ?? 0)}>
            {short(e.where)}
          </Go>
          <Long text={e.message} />
        </li>
      ))}
    </ul>
  );
}
