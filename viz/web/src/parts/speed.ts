/** How fast a kernel is, and of what a machine can do. Pure. */
import type { Peak } from "../data/messages/kernel";

export interface Speed {
  /** Billions per second. */
  gflops: number;
  gbytes: number;
  /** Of the peaks of the machine, 0 to 1; null where they are not known. */
  flopsShare: number | null;
  bytesShare: number | null;
}

/** Of one launch that takes `us`; `peak` is that of the machine on which it was timed. */
export function speedOf(
  flops: number,
  bytes: number,
  us: number | undefined,
  peak: Peak | undefined,
): Speed {
  const per = (n: number): number => (us !== undefined && us > 0 ? n / us / 1000 : 0);
  const share = (giga: number, most: number | undefined): number | null =>
    most !== undefined && most > 0 ? (1e9 * giga) / most : null;
  const [gflops, gbytes] = [per(flops), per(bytes)];
  return {
    gflops,
    gbytes,
    flopsShare: share(gflops, peak?.flops),
    bytesShare: share(gbytes, peak?.bytes),
  };
}

/** Three digits that count: "14.1", "0.031", "1,240". */
export function digits(n: number): string {
  if (!Number.isFinite(n) || n <= 0) return n === 0 ? "0" : "";
  if (n >= 100) return Math.round(n).toLocaleString("en");
  if (n < 0.001) return "<0.001";
  return n.toFixed(n >= 10 ? 1 : n >= 1 ? 2 : 3);
}

/** "27%", "3.1%", "<0.1%"; ">100%" for what is more than was measured, such as from caches. */
export function percent(share: number): string {
  const p = 100 * share;
  if (p > 100.5) return ">100%";
  if (p > 0 && p < 0.1) return "<0.1%";
  return `${p === 0 || p >= 9.95 ? Math.round(p) : p.toFixed(1)}%`;
}

/** "4.98 M", "12.0 G", "860 ": a count with the prefix of its unit. */
export function scaled(n: number): string {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  const power = n >= 1000 ? Math.min(prefixes.length - 1, Math.floor(Math.log10(n) / 3)) : 0;
  return `${digits(n / 1000 ** power)} ${prefixes[power]}`;
}
