/** Times of two programs in turn: the median ratio, and the interval that holds it with 95 %, by the same
 * order statistics as `viz/ratio.py`. Pure. */
import type { BenchSpread, BenchTimes } from "../../data/messages/trials/workbench";

const QUANTILE = 1.96;

/** Positions in sorted samples between which their median lies (Conover, "Practical Nonparametric
 * Statistics", section 3.2). */
export function interval(count: number): [number, number] {
  const half = (QUANTILE * Math.sqrt(count)) / 2;
  const low = Math.floor(count / 2 - half) - 1;
  const high = Math.ceil(count / 2 + half);
  return [Math.max(0, low), Math.min(count - 1, high)];
}

export function median(ordered: readonly number[]): number {
  const middle = ordered.length >> 1;
  if (!ordered.length) return 0;
  return ordered.length % 2 ? ordered[middle]! : (ordered[middle - 1]! + ordered[middle]!) / 2;
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, z) => a - z);

/** How times of turns compare; null where nothing was timed. */
export function timesOf(original: readonly number[], edited: readonly number[]): BenchTimes | null {
  const turns = Math.min(original.length, edited.length);
  const ratios = sorted(original.slice(0, turns).map((a, i) => edited[i]! / a));
  if (!turns || !ratios.every(Number.isFinite)) return null;
  const [low, high] = interval(turns);
  const sides = [spread(original), spread(edited)] as const;
  return {
    ratio: median(ratios),
    low: ratios[low]!,
    high: ratios[high]!,
    old: sides[0].median,
    new: sides[1].median,
    turns,
    original: sides[0],
    edited: sides[1],
  };
}

function spread(us: readonly number[]): BenchSpread {
  const ordered = sorted(us);
  const at = (part: number): number =>
    ordered[Math.min(ordered.length - 1, Math.floor(part * ordered.length))] ?? 0;
  return { us: [...us], median: median(ordered), p10: at(0.1), p90: at(0.9) };
}
