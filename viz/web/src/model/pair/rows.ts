/**
 * Two passes in step: the rows of their alignment, and the state of each side at every one of them.
 *
 * Row r takes both sides through the same step, or one of them through a step that the other has
 * not: then the other one stands still. What is shown at a row is both sides after it; row 0 is the
 * two input graphs. Pure.
 */
import type { PassAlignment } from "../../data/messages/compare";
import type { ChangeWords } from "../diff";
import { timelineOf } from "../timeline";
import { Differ, kindsOf } from "./differ";
import type { Joint } from "./joint";
import type { StatePairs, Stretch } from "./statePairs";

/** What differs adds up from row to row: all of it would be drawn anew at each of them. */
const CHANGED = 16;

export interface Rows {
  /** Rows are 1..count. */
  count: number;
  /** Steps that A and B have behind them after row r; index 0: none. */
  a: Int32Array;
  b: Int32Array;
  /** Per row: 1 if it is the same on both sides. */
  equal: Uint8Array;
}

/** The rows of an alignment, as far as the two passes have the steps; others are left out. */
export function rowsOf(
  { steps, equal }: Pick<PassAlignment, "steps" | "equal">,
  stepsA: number,
  stepsB: number,
): Rows {
  const a = [0];
  const b = [0];
  const same = [0];
  let [atA, atB] = [0, 0];
  steps.forEach(([x, y], i) => {
    // Each side goes through its steps one by one, whatever a trace says.
    const goesA = x > 0 && atA < stepsA;
    const goesB = y > 0 && atB < stepsB;
    if (!goesA && !goesB) return;
    a.push((atA += Number(goesA)));
    b.push((atB += Number(goesB)));
    same.push(Number(equal[i] === true && goesA && goesB));
  });
  while (atA < stepsA || atB < stepsB) {
    a.push(atA < stepsA ? ++atA : atA);
    b.push(atB < stepsB ? ++atB : atB);
    same.push(0);
  }
  return {
    count: a.length - 1,
    a: Int32Array.from(a),
    b: Int32Array.from(b),
    equal: Uint8Array.from(same),
  };
}

/**
 * The same alignment, with one row where both sides match the same node and go on differently, rather
 * than a row for each: so both ways stand beside each other.
 */
export function pairedUp(
  { steps, equal }: Pick<PassAlignment, "steps" | "equal">,
  { bundle, first }: Pick<Joint, "bundle" | "first">,
): Pick<PassAlignment, "steps" | "equal"> {
  const out: [number, number][] = [];
  const same: boolean[] = [];
  const put = (a: number, b: number, isSame = false): void => {
    out.push([a, b]);
    same.push(isSame);
  };
  const slotOf = (state: number): number => bundle.steps[state - 1]?.slot ?? -1;
  for (let i = 0; i < steps.length; ) {
    const [a, b] = steps[i]!;
    if (a && b) {
      put(a, b, equal[i++] === true);
      continue;
    }
    const begin = i;
    while (i < steps.length && (!steps[i]![0] || !steps[i]![1])) i++;
    const gap = steps.slice(begin, i);
    const ofB = gap.map((row) => row[1]).filter((k) => k > 0);
    const places = new Map<number, number[]>();
    ofB.forEach((k, at) => {
      const slot = slotOf(first + k);
      places.set(slot, [...(places.get(slot) ?? []), at]);
    });
    let next = 0;
    for (const [k] of gap) {
      if (!k) continue;
      const left = places.get(slotOf(k));
      while (left?.length && left[0]! < next) left.shift();
      const at = left?.[0];
      if (at === undefined) {
        put(k, 0);
        continue;
      }
      while (next < at) put(0, ofB[next++]!);
      put(k, ofB[next++]!);
    }
    while (next < ofB.length) put(0, ofB[next++]!);
  }
  return { steps: out, equal: same };
}

/** How many rows there are of each kind. */
export function kindsIn(rows: Rows): Record<RowKind, number> {
  const counts = { same: 0, differs: 0, onlyA: 0, onlyB: 0 };
  for (let r = 1; r <= rows.count; r++) counts[kindOfRow(rows, r)]++;
  return counts;
}

/** How a row stands: both sides take a step, or one does. */
export type RowKind = "same" | "differs" | "onlyA" | "onlyB";

export function kindOfRow(rows: Rows, r: number): RowKind {
  if (rows.equal[r]) return "same";
  if (rows.a[r] === rows.a[r - 1]) return "onlyB";
  return rows.b[r] === rows.b[r - 1] ? "onlyA" : "differs";
}

/** The nearest row after (1) or before (-1) r that is not the same on both sides; null: none. */
export function nextDifference(rows: Rows, r: number, way: 1 | -1): number | null {
  for (let at = r + way; at >= 1 && at <= rows.count; at += way) if (!rows.equal[at]) return at;
  return null;
}

/** The row in which a side takes that step; the last one if it has fewer, 0 for step 0. */
export function rowOfStep(rows: Rows, side: "a" | "b", step: number): number {
  const at = firstAtLeast(rows[side], step);
  return Math.min(at, rows.count);
}

/** First index of an ascending list that holds `value` or more. */
function firstAtLeast(list: Int32Array, value: number): number {
  let lo = 0;
  let hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid]! < value) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

const BETWEEN_RUNS = {
  removed: "only in A",
  added: "only in B",
  was: (op: string) => `${op} in A`,
  moved: "differ",
};

/** How what differs between two states is told. */
const wordsAt = (a: number, b: number): ChangeWords => ({
  ...BETWEEN_RUNS,
  title: `Nodes around what differs: A after step ${a.toLocaleString("en")}, B after step ${b.toLocaleString("en")}`,
});

/** What the panes show of two passes: the state of A as before, that of B as after, row by row. */
export function alignedPairs(both: Joint, rows: Rows): StatePairs {
  const timeline = timelineOf(both.bundle);
  const kinds = kindsOf(both.bundle);
  const { first } = both;
  return {
    timeline,
    last: rows.count,
    sharePlaces: false,
    changed: CHANGED,
    before: (r) => rows.a[r]!,
    after: (r) => first + rows.b[r]!,
    differ(before, after) {
      const differ = new Differ(before, after, kinds);
      return (r) => differ.diff(r, matched(both, rows, r), wordsAt(before.step, after.step - first));
    },
    states: (from, to) => [
      [rows.a[from]!, rows.a[to]!],
      [first + rows.b[from]!, first + rows.b[to]!],
    ],
    showing(states) {
      const side = states[0] >= first ? "b" : "a";
      return rowsShowing(rows[side], side === "b" ? first : 0, states);
    },
  };
}

/** The rows after which a side is in one of these states. */
function rowsShowing(at: Int32Array, first: number, [from, to]: Stretch): Stretch | null {
  const low = firstAtLeast(at, from - first);
  const high = firstAtLeast(at, to - first + 1) - 1;
  return low <= high ? [low, high] : null;
}

/** The slots of the matches that row r takes the sides through, results first. */
function matched(both: Joint, rows: Rows, r: number): number[] {
  if (r < 1) return [];
  const { steps } = both.bundle;
  const slots: number[] = [];
  if (rows.b[r] !== rows.b[r - 1]) slots.push(both.first + rows.b[r]!);
  if (rows.a[r] !== rows.a[r - 1]) slots.push(rows.a[r]!);
  return slots.flatMap((state) => {
    const step = steps[state - 1]!;
    return [step.result, step.slot];
  });
}

/** The same pairs, but pair k shows states a and b of the two passes, whatever its row says. */
export function withStates(
  pairs: StatePairs,
  k: number,
  first: number,
  a: number,
  b: number,
): StatePairs {
  return {
    ...pairs,
    before: (r) => (r === k ? a : pairs.before(r)),
    after: (r) => (r === k ? first + b : pairs.after(r)),
    states(from, to) {
      const rows = pairs.states(from, to);
      return from <= k && k <= to ? [...rows, [a, a], [first + b, first + b]] : rows;
    },
    showing: (states) => pairs.showing(states) ?? [k, k],
  };
}
