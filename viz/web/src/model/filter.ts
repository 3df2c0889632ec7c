/** Which steps of a pass the filters let through. Pure. */
import type { Bundle, Step } from "../data/messages/bundle";

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

/** Index of the first of ascending steps that is `step` or later. */
export function firstFrom(steps: readonly number[], step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Nearest passing step after (or before) `from`; null if there is none. */
export function nextPassing(
  passing: readonly number[],
  from: number,
  forward: boolean,
): number | null {
  const at = forward ? firstFrom(passing, from + 1) : firstFrom(passing, from) - 1;
  return passing[at] ?? null;
}

/** The steps (1-based) of each rule of the pass, most frequent rule first, ties by first use. */
export function stepsByRule(b: Bundle): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  b.steps.forEach(({ rule }, i) => {
    const steps = found.get(rule);
    if (steps) steps.push(i + 1);
    else found.set(rule, [i + 1]);
  });
  return new Map([...found].sort(([, a], [, z]) => z.length - a.length));
}
