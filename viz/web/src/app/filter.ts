/** Which steps of a pass the filters let through. Pure. */
import type { Bundle, Step } from "../data/types";

export interface Filters {
  rule: number | null;
  op: string | null;
  /** A slot. */
  node: number | null;
}

/** Steps (1-based, ascending) that pass all filters. */
export function passingSteps(b: Bundle, f: Filters): number[] {
  const passing: number[] = [];
  const opIndex = f.op === null ? null : b.ops.indexOf(f.op);
  b.steps.forEach((step, i) => {
    if (f.rule !== null && step.rule !== f.rule) return;
    if (opIndex !== null && !touchesOp(b, step, opIndex)) return;
    if (f.node !== null && !touchesSlot(step, f.node)) return;
    passing.push(i + 1);
  });
  return passing;
}

/** The matched node, its result, or a node that the step adds or changes has this op. */
function touchesOp(b: Bundle, step: Step, op: number): boolean {
  const isOp = (node: number): boolean => b.nodes.op[node] === op;
  return isOp(step.before) || isOp(step.after) || step.set.some(([, node]) => isOp(node));
}

/** The step replaces, adds, drops or rewires this slot. */
export function touchesSlot(step: Step, slot: number): boolean {
  return (
    step.slot === slot ||
    step.result === slot ||
    step.removed.includes(slot) ||
    step.added.includes(slot) ||
    step.moved.includes(slot) ||
    step.drop.includes(slot) ||
    step.set.some(([changed]) => changed === slot)
  );
}

/** Nearest passing step after (or before) `from`; null if there is none. */
export function nextPassing(
  passing: readonly number[],
  from: number,
  forward: boolean,
): number | null {
  if (forward) return passing.find((k) => k > from) ?? null;
  return passing.findLast((k) => k < from) ?? null;
}

/** How often each rule fires in the pass, most frequent first, ties by first use. */
export function ruleCounts(b: Bundle): { rule: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const step of b.steps) counts.set(step.rule, (counts.get(step.rule) ?? 0) + 1);
  return [...counts].map(([rule, count]) => ({ rule, count })).sort((a, z) => z.count - a.count);
}
