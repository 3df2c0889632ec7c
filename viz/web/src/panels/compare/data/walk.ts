/**
 * Two passes, loaded: their joint graph, the rows in which they go in step, and which row is shown.
 * The overview shows the first difference of the selected scope with them, the walk any row.
 */
import { computed, signal } from "@preact/signals";
import type { Bundle } from "../../../data/messages/bundle";
import type { PassAlignment } from "../../../data/messages/compare";
import type { NodeChange } from "../../../model/diff";
import { joint, type Joint } from "../../../model/pair/joint";
import {
  alignedPairs,
  nextDifference,
  rowOfStep,
  pairedUp,
  type Rows,
  rowsOf,
  withStates,
} from "../../../model/pair/rows";
import type { StatePairs } from "../../../model/pair/statePairs";
import { Replay } from "../../../model/replay";
import { Watched } from "../../../state/watched";
import { compareLink, numbersOf, pairOf, show } from "./link";
import { pairData, runData } from "./ask";
import { comparison, firstDifference, isOpen, runsKey } from "./store";

export interface Passes {
  /** Rewrites; 0: none on that side. */
  numbers: readonly [a: number, b: number];
  a: Bundle | null;
  b: Bundle | null;
  alignment: PassAlignment;
  both: Joint;
  rows: Rows;
  pairs: StatePairs;
}

/** The passes that are walked through, or those of the first difference; "" for none. */
const passesKey = computed(() => {
  const { walk } = compareLink.value;
  const first = firstDifference.value;
  return walk ?? (first ? pairOf(first.a, first.b) : "");
});

export const watchedPasses = new Watched<Passes>(
  "api/compare/passes",
  () => isOpen() && passesKey.value !== "" && comparison.value !== null,
  (abort) => load(numbersOf(passesKey.peek()), abort),
  undefined,
  () => `${runsKey.value} ${passesKey.value}`,
);
export const passes = watchedPasses.answer;

async function load(numbers: readonly [number, number], abort: AbortSignal): Promise<Passes> {
  const [of, beside] = numbers;
  const [alignment, a, b] = await Promise.all([
    pairData().passes(of, beside, abort),
    of ? runData("a").bundle(of, abort) : null,
    beside ? runData("b").bundle(beside, abort) : null,
  ]);
  const both = joint(a, b, alignment.slots);
  const rows = rowsOf(pairedUp(alignment, both), both.stepsA, both.stepsB);
  return { numbers, a, b, alignment, both, rows, pairs: alignedPairs(both, rows) };
}

/** The row that a pair of passes opens with: the first that differs, or the input graphs. */
function firstRow({ pairs, both, rows }: Passes): number {
  const t = pairs.timeline;
  const [before, after] = [new Replay(both.bundle, t), new Replay(both.bundle, t)];
  before.goto(pairs.before(0));
  after.goto(pairs.after(0));
  if (pairs.differ(before, after)(0).nodes.size) return 0;
  return nextDifference(rows, 0, 1) ?? 0;
}

const opening = computed(() => (passes.value ? firstRow(passes.value) : 0));

/** The row of the first difference, as the overview has it. */
export const firstDifferingRow = computed(() => {
  const now = passes.value;
  const first = firstDifference.value;
  if (!now || !first) return 0;
  if (first.stepA !== null) return rowOfStep(now.rows, "a", first.stepA);
  if (first.stepB !== null) return rowOfStep(now.rows, "b", first.stepB);
  return opening.value;
});

/** A row that is shown while the strip is dragged; null otherwise. */
export const previewRow = signal<number | null>(null);

/** The row that is walked at, within the rows there are. */
export const row = computed(() => {
  const wanted = previewRow.value ?? compareLink.value.row ?? opening.value;
  return Math.max(0, Math.min(wanted, passes.value?.rows.count ?? 0));
});

/** The states that are shown: those of the row, or any two that were chosen. */
export const states = computed<readonly [a: number, b: number]>(() => {
  const now = passes.value;
  if (!now) return [0, 0];
  const chosen = previewRow.value === null ? compareLink.value.states : null;
  if (chosen === null) return [now.rows.a[row.value]!, now.rows.b[row.value]!];
  const [a, b] = numbersOf(chosen);
  return [Math.min(a, now.both.stepsA), Math.min(b, now.both.stepsB)];
});
export const inStep = computed(() => compareLink.value.states === null);

/** What the panes show: the rows, or at this row any two states. */
export const shownPairs = computed<StatePairs | null>(() => {
  const now = passes.value;
  if (!now || compareLink.value.states === null) return now?.pairs ?? null;
  return withStates(now.pairs, row.value, now.both.first, ...states.value);
});

/** The graphs of both sides, and what differs between them. Valid until the row changes. */
const walkers = computed(() => {
  const now = passes.value;
  if (!now) return null;
  const t = now.pairs.timeline;
  const [before, after] = [new Replay(now.both.bundle, t), new Replay(now.both.bundle, t)];
  return { before, after, differ: now.pairs.differ(before, after) };
});
export const sides = computed(() => {
  const both = walkers.value;
  const now = passes.value;
  if (!both || !now) return null;
  const [a, b] = states.value;
  both.before.goto(a);
  both.after.goto(now.both.first + b);
  return { ...both, diff: both.differ(row.value) };
});

/** How many nodes are on one side only, differ, or have other sources. */
export const counted = computed<Record<Exclude<NodeChange, "same">, number>>(() => {
  const counts = { removed: 0, added: 0, moved: 0, replaced: 0 };
  for (const change of sides.value?.diff.nodes.values() ?? [])
    if (change !== "same") counts[change]++;
  return counts;
});

/** Goes to a row; both sides go in step again. */
export function goRow(r: number): void {
  const count = passes.peek()?.rows.count ?? 0;
  show({ row: Math.max(0, Math.min(r, count)), states: null });
}

/** Goes to the next (or previous) row that differs; false if there is none. */
export function goDifference(way: 1 | -1): boolean {
  const now = passes.peek();
  const to = now === null ? null : nextDifference(now.rows, row.peek(), way);
  if (to === null) return false;
  goRow(to);
  return true;
}

/** Shows another state of one side, the other one staying where it is. */
export function goState(side: "a" | "b", step: number): void {
  const now = passes.peek();
  if (!now) return;
  const [a, b] = states.peek();
  const most = side === "a" ? now.both.stepsA : now.both.stepsB;
  const to = Math.max(0, Math.min(most, step));
  show({ row: row.peek(), states: side === "a" ? `${to}.${b}` : `${a}.${to}` }, "replace");
}

/** Opens two passes to walk through. */
export function walkThrough(a: number | null, b: number | null, at: number | null = null): void {
  show({ walk: pairOf(a, b), row: at, states: null, slot: null });
}
