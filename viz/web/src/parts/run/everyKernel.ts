/** All kernels of the run on the GPU of this browser, one at a time: so that the reader of a report can
 * say whether it is slow, or wrong, on theirs as well. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import { BROWSER } from "../../data/browser";
import type { ApiProblem } from "../../data/messages/job";
import type { RunResult } from "../../data/messages/kernel";
import { micros, plural } from "../../state/format";
import { run, runKey } from "../../state/state";
import { adapter } from "../../webgpu/gpu";
import { consent, gpuName, launchHere } from "./here";
import { COMPILERS } from "../kernel/versions";

/** A kernel of the run: how often it was launched, and its median time there, us; null: not known. */
export interface Recorded {
  context: number;
  name: string;
  launches: number;
  median: number | null;
}

export interface Replayed {
  of: Recorded;
  /** What came of it here, or why nothing did. */
  result: RunResult | null;
  problem: ApiProblem | null;
}

/** What came of it so far. */
export const replayed = signal<readonly Replayed[]>([]);
/** Which kernel runs, from 1, of how many, and how far it is; null: none. */
export const replaying = signal<{ at: number; of: number; said: string } | null>(null);
/** Why this browser runs none of them; null: it may. */
export const noGpu = signal<ApiProblem | null>(null);
/** Seconds for the times of one kernel: there may be many. */
const SECONDS = 0.3;
let job: AbortController | null = null;

/** Whether this browser can run the kernels of the run. */
export const canReplayHere = computed(() =>
  (run.value?.editable ?? []).some((one) => one.device === BROWSER),
);

export async function replayHere(kernels: readonly Recorded[]): Promise<void> {
  job?.abort();
  const mine = (job = new AbortController());
  const made: Replayed[] = [];
  replayed.value = [];
  noGpu.value = null;
  try {
    replaying.value = { at: 1, of: kernels.length, said: "" };
    if (!(await found(mine.signal))) return;
    for (const [i, of] of kernels.entries()) {
      const say = (said: string): void => {
        if (!mine.signal.aborted) replaying.value = { at: i + 1, of: kernels.length, said };
      };
      say("");
      const how = { device: BROWSER, ...COMPILERS, source: null };
      try {
        const result = await launchHere(of.context, how, say, mine.signal, SECONDS);
        made.push({ of, result, problem: null });
      } catch (thrown) {
        if (isAbort(thrown)) return;
        made.push({ of, result: null, problem: asProblem(thrown, of.name) });
      }
      if (mine.signal.aborted) return;
      replayed.value = [...made];
    }
  } finally {
    if (job === mine) replaying.value = null;
  }
}

/** Whether code may run, and the browser has a GPU for it. */
async function found(signal: AbortSignal): Promise<boolean> {
  try {
    await consent(signal);
    await adapter();
    return !signal.aborted;
  } catch (thrown) {
    if (!isAbort(thrown) && !signal.aborted) noGpu.value = asProblem(thrown, "WebGPU");
    return false;
  }
}

export function cancelReplay(): boolean {
  if (replaying.peek() === null) return false;
  job?.abort();
  replaying.value = null;
  return true;
}

/** What came of it is of one run. */
export function startReplay(): void {
  effect(() => {
    void runKey.value;
    job?.abort();
    replayed.value = [];
    noGpu.value = null;
    replaying.value = null;
  });
}

export interface Totals {
  /** Microseconds of all launches, by the medians of kernels that were timed on both sides. */
  recorded: number;
  here: number;
  equal: number;
  differs: number;
  failed: number;
}

export function totalsOf(all: readonly Replayed[]): Totals {
  const totals = { recorded: 0, here: 0, equal: 0, differs: 0, failed: 0 };
  for (const { of, result } of all) {
    if (!result) totals.failed++;
    else if (result.equal) totals.equal++;
    else totals.differs++;
    if (!result || of.median === null) continue;
    totals.recorded += of.launches * of.median;
    totals.here += of.launches * result.median;
  }
  return totals;
}

/** All of it as lines of text, to be sent. */
export function replayText(all: readonly Replayed[]): string {
  const { recorded, here, equal, differs, failed } = totalsOf(all);
  const lines = all.map(({ of, result, problem }) => {
    const before = of.median === null ? "-" : micros(of.median);
    const now = result ? micros(result.median) : "-";
    const said = result ? (result.equal ? "equal" : "DIFFERS") : (problem?.what ?? "");
    return [of.name, of.launches, before, now, said].join("\t");
  });
  return [
    `${run.peek()?.file ?? ""} on ${BROWSER.toLowerCase()}: ${gpuName.peek()}`,
    navigator.userAgent,
    `${plural(equal, "kernel")} equal, ${differs} different, ${failed} not run`,
    `launches that were timed on both sides: ${micros(recorded)} recorded, ${micros(here)} here`,
    ["kernel", "launches", "recorded", "here", "result"].join("\t"),
    ...lines,
  ].join("\n");
}
