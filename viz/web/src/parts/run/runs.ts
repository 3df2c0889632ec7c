/** The runs of one kernel, as they are compared: devices and optimisations. Pure. */
import { micros, plural } from "../../state/format";
import type { RunResult } from "../../data/messages/kernel";
import { type Said, saidOfCounts, saidOnce } from "../ratio";

/** Runs that are kept of a kernel; the first one, which the others are compared with, always. */
export const MOST_RUNS = 12;

/** Device, opts and text: a run of the same replaces the older one. */
export const sameWay = (a: RunResult, b: RunResult): boolean =>
  a.device === b.device && a.opts === b.opts && a.source === b.source;

/** The runs with one more, newest last, or in the place of an older one of the same. */
export function withRun(runs: readonly RunResult[], made: RunResult): RunResult[] {
  const at = runs.findIndex((r) => sameWay(r, made));
  if (at >= 0) return runs.with(at, made);
  const kept = runs.length < MOST_RUNS ? runs : [runs[0]!, ...runs.slice(2)];
  return [...kept, made];
}

/** "auto", "none", or the optimisations themselves. */
export function optsWord(opts: string | null): string {
  return opts === null ? "auto" : opts.trim() || "none";
}

/** What was run: the user's text, or how the compiler's was optimised. */
export const wayWord = (r: RunResult): string => (r.source === null ? optsWord(r.opts) : "edited");

/** The first run that a run is compared with: both have a time, or count instructions of one machine. */
export const baseOf = (r: RunResult, runs: readonly RunResult[]): RunResult | undefined =>
  runs.find((other) =>
    r.instructions === null
      ? other.instructions === null
      : other.instructions !== null && other.device === r.device,
  );

/** "1.2 ms", or on an emulated device "5,472 instructions" of all threads. */
export const costOf = (r: RunResult): string =>
  r.instructions === null ? micros(r.median) : plural(r.instructions, "instruction");

/** How long it takes, or how many instructions, over the first run; null where either took no time.
 * The one ran after the other and not in turn, so that its time is no basis for a claim. */
export function compared(r: RunResult, first: RunResult): Said | null {
  if (r.instructions !== null && first.instructions !== null)
    return saidOfCounts(
      r.instructions / Math.max(1, first.instructions),
      r.equal !== false && first.equal !== false,
    );
  return first.median > 0 && r.median > 0 ? saidOnce(r.median / first.median) : null;
}
