/** The runs of one kernel, as they are compared: devices and optimisations. Pure. */
import type { RunResult } from "../../data/types";

/** Runs that are kept of a kernel; the first one, which the others are compared with, always. */
export const MOST_RUNS = 12;

/** The runs with one more, newest last; a run of the same device and opts takes the old one's place. */
export function withRun(runs: readonly RunResult[], made: RunResult): RunResult[] {
  const at = runs.findIndex((r) => r.device === made.device && r.opts === made.opts);
  if (at >= 0) return runs.with(at, made);
  const kept = runs.length < MOST_RUNS ? runs : [runs[0]!, ...runs.slice(2)];
  return [...kept, made];
}

/** "auto", "none", or the optimisations themselves. */
export function optsWord(opts: string | null): string {
  return opts === null ? "auto" : opts.trim() || "none";
}

/** How much longer it took than the first run: "0.78×"; nothing where either took no time. */
export function ratio(r: RunResult, first: RunResult): string {
  return first.median > 0 && r.median > 0 ? `${(r.median / first.median).toFixed(2)}×` : "";
}

/** What the compiler chose, from the names of the passes that applied it. */
export function appliedOpts(passes: readonly string[]): string {
  return passes
    .flatMap((name) => /^optimize: ([A-Z]+\([^)]*\)?\))$/.exec(name)?.[1] ?? [])
    .join(" ");
}
