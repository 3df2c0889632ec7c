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
  return counted(sorted, from, to, bins);
}

/** Several distributions in the same bins: from the fastest of all to the slowest 90th percentile, with
 * a little room. */
export function together(all: readonly (readonly number[])[], bins = 48): Histogram[] {
  const sorted = all.map((us) => us.filter(Number.isFinite).sort((a, z) => a - z));
  const from = Math.min(...sorted.map((us) => us[0] ?? Infinity));
  const top = Math.max(...sorted.map((us) => quantile(us, 0.9)));
  const to = top > from ? from + (top - from) * 1.15 : from + Math.max(from * 0.1, 0.1);
  return sorted.map((us) => counted(us, from, to, bins));
}

/** How many of the values lie in each bin. */
function counted(us: readonly number[], from: number, to: number, bins: number): Histogram {
  const out: Histogram = { bins: new Array<number>(bins).fill(0), from, to, beyond: 0 };
  for (const t of us) {
    const bin = Math.min(bins - 1, Math.floor(((t - from) / (to - from)) * bins));
    if (t > to) out.beyond += 1;
    else out.bins[bin] = (out.bins[bin] ?? 0) + 1;
  }
  return out;
}

/** Round values from `from` to `to` for an axis, about `most` of them. */
export function ticks(from: number, to: number, most = 6): number[] {
  const rough = (to - from) / most;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((n) => n * power >= rough) ?? 10);
  const out: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n += 1)
    out.push(Number((n * step).toPrecision(12)));
  return out;
}
