/** Which commits of a figure are drawn, and where. Pure. */
import type { FleetPoint } from "../../data/fleet";

/** Commits that are shown: from number `from` on, up to `to`, which may lie between two of them. */
export type Range = readonly [from: number, to: number];

/** Commits that are shown at least, where there are as many. */
const FEWEST = 4;

/** A figure at one pixel: of one commit, or of some that fall together. */
export interface Mark {
  x: number;
  median: number;
  low: number;
  high: number;
}

/** The place of the middle of a commit in a width. */
export const xOf = ([from, to]: Range, commit: number, width: number): number =>
  ((commit + 0.5 - from) / (to - from)) * width;

/** The commit at a place. */
export function commitAt([from, to]: Range, x: number, width: number, count: number): number {
  const at = Math.floor(from + (x / Math.max(1, width)) * (to - from));
  return Math.max(0, Math.min(count - 1, at));
}

/** A range within all commits, as wide as it was asked for where that can be. */
export function bounded([from, to]: Range, count: number): Range {
  const wide = Math.max(Math.min(FEWEST, count), Math.min(count, to - from));
  const first = Math.max(0, Math.min(from, count - wide));
  return [first, first + wide];
}

/** Larger by a factor, or smaller below 1, with what is at a share of the width left there. */
export function zoomed([from, to]: Range, factor: number, share: number, count: number): Range {
  const wide = Math.max(Math.min(FEWEST, count), Math.min(count, (to - from) / factor));
  const first = from + share * (to - from - wide);
  return bounded([first, first + wide], count);
}

/** A range that has a commit in it: moved as little as that takes. */
export function revealing([from, to]: Range, commit: number, count: number): Range {
  const by = commit < from ? commit - from : commit + 1 > to ? commit + 1 - to : 0;
  return by ? bounded([from + by, to + by], count) : [from, to];
}

/** What of a program is drawn: its points in a range, those of one pixel as one. `at`: the number of
 * each point's commit, in order. */
export function marksOf(
  points: readonly FleetPoint[],
  at: readonly number[],
  range: Range,
  width: number,
): Mark[] {
  const found: Mark[] = [];
  let weight = 0;
  for (let i = firstFrom(at, range[0] - 1); i < at.length && at[i]! <= range[1] + 1; i++) {
    const { median, low, high } = points[i]!;
    const x = Math.round(xOf(range, at[i]!, width));
    const last = found.at(-1);
    if (last?.x === x) {
      last.median = (last.median * weight + median) / ++weight;
      last.low = Math.min(last.low, low);
      last.high = Math.max(last.high, high);
    } else {
      found.push({ x, median, low, high });
      weight = 1;
    }
  }
  return found;
}

/** The place of the first number that is not below `least`, in numbers that rise. */
function firstFrom(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
