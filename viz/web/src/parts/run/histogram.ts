/** Times as a distribution. Pure. */

export interface Histogram {
  /** Launches per bin. */
  bins: number[];
  /** Microseconds at the left edge of the first bin and the right edge of the last. */
  from: number;
  to: number;
  /** Launches slower than `to`: they would flatten all others, so they are only counted. */
  beyond: number;
}

/** The value below which the share `q` of the (ascending) values lies; linear in between. */
export function quantile(sorted: readonly number[], q: number): number {
  if (!sorted.length) return 0;
  const at = q * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

/** Bins from the fastest launch to the 95th percentile (with a little room). */
export function histogram(us: readonly number[], bins = 32): Histogram {
  const sorted = us.filter((t) => Number.isFinite(t)).sort((a, z) => a - z);
  const from = sorted[0] ?? 0;
  const top = quantile(sorted, 0.95);
  const to = top > from ? from + (top - from) * 1.2 : from + Math.max(from * 0.1, 0.1);
  const out: Histogram = { bins: new Array<number>(bins).fill(0), from, to, beyond: 0 };
  for (const t of sorted) {
    if (t > to) out.beyond += 1;
    else {
      const bin = Math.min(bins - 1, Math.floor(((t - from) / (to - from)) * bins));
      out.bins[bin] = (out.bins[bin] ?? 0) + 1;
    }
  }
  return out;
}
