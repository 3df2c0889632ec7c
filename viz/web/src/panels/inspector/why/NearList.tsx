/** Where in the pass a rule nearly fires: the nodes where its pattern gets furthest without fitting. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Failed } from "../../../parts/Failed";
import { walkButtons } from "../../../parts/walkButtons";
import type { NearMiss, NearMisses } from "../../../data/messages/rule";
import { count, plural, short } from "../../../state/format";
import { lit } from "../../../state/stage";
import { ruleName } from "../../../state/state";
import { goToNode } from "./data/jump";
import { ask } from "./data/link";
import { askedNode, bringNear, slotNow, watchedNear } from "./data/store";
import { useHeld } from "./answer/useHeld";
import { sentence } from "./answer/words";

/** `inner`: it stands below an answer, in a section of that. */
export function NearList({ rule, inner = false }: { rule: number; inner?: boolean }) {
  const problem = watchedNear.error.value;
  const { value } = useHeld(watchedNear.answer.value, rule);
  const head = useRef<HTMLHeadingElement>(null);
  const settled = value !== null || problem !== null;
  const bring = bringNear.value && settled;
  useLayoutEffect(() => {
    if (!bring) return;
    bringNear.value = false;
    head.current?.scrollIntoView({ block: "start" });
  }, [bring]);
  const body = problem ? (
    <Failed problem={problem} retry={watchedNear.retry} />
  ) : value ? (
    <List misses={value} />
  ) : (
    <p class="t2" role="status">
      Looking at the nodes of this pass
    </p>
  );
  if (!inner)
    return (
      <div class="sec">
        <h2 class="h">Where {ruleName(rule)} nearly fires</h2>
        {body}
      </div>
    );
  return (
    <>
      <h3 ref={head}>
        Where it nearly fires in this pass
        <span class="sp" />
        <button type="button" class="link" onClick={() => ask({ near: false })}>
          Hide
        </button>
      </h3>
      {body}
    </>
  );
}

function List({ misses }: { misses: NearMisses }) {
  return (
    <>
      <p class="doc">{summary(misses)}</p>
      {misses.leftOut && <p class="cmov small">◆ {sentence(misses.leftOut)}</p>}
      <ol class="why-near" aria-label="Near misses" onKeyDown={walkButtons}>
        {misses.rows.map((row) => {
          return (
            <li key={row.node}>
              <button
                type="button"
                class="why-miss"
                aria-current={row.node === askedNode.value ? "true" : undefined}
                onPointerEnter={() => light(row.node)}
                onPointerLeave={() => light(null)}
                onFocus={() => light(row.node)}
                onBlur={() => light(null)}
                onClick={() => goToNode(misses.rewrite, row.node)}
              >
                <span class="row">
                  <b class="mono el" title={`u${row.node} ${short(row.text, 400)}`}>
                    u{row.node} {short(row.text, 80)}
                  </b>
                  <span class="sp" />
                  <span class="badge num" title="Parts of the pattern that fit">
                    {plural(row.fitted, "part")}
                  </span>
                </span>
                {row.pattern.misfit && (
                  <span class="t2 el" title={difference(row, 400)}>
                    {difference(row, 60)}
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** "expected CONST, found MUL at u12". */
function difference({ node, pattern }: NearMiss, longest: number): string {
  const bad = pattern.misfit;
  if (!bad) return "";
  const at = bad.node > 0 && bad.node !== node ? ` at u${bad.node}` : "";
  return `expected ${short(bad.expected, longest)}, found ${short(bad.found, longest)}${at}`;
}

/** Rings a node in the graphs, where they have it. */
function light(node: number | null): void {
  const slot = node === null ? null : slotNow(node);
  lit.value = slot === null ? [] : [slot];
}

/** How many nodes were tried, and at how many it fits. */
export function summary(m: NearMisses): string {
  const where = m.known
    ? `It was tried at ${plural(m.tried, "node")} of this pass`
    : `${plural(m.tried, "node")} of this pass ${m.tried === 1 ? "has" : "have"} an op that its pattern may begin with`;
  const out = m.inPass
    ? ""
    : ` It is not ${m.rulesKnown ? "" : "known to be "}a rule of this pass.`;
  if (!m.tried) return `No node of this pass has an op that its pattern may begin with.${out}`;
  const fits = m.fitting ? `its pattern fits ${count(m.fitting)} of them` : "its pattern fits none";
  const near = m.rows.length
    ? `It got furthest without fitting at ${m.rows.length === 1 ? "this one" : "these"}:`
    : m.missed
      ? "At the others it fails at once: no part of it fits."
      : "";
  return `${where}; ${fits}.${out} ${near}`.trim();
}
