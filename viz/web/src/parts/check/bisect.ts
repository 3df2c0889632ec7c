/**
 * Which step is wrong: looks for the match that makes the result of a kernel wrong, or for whatever is
 * wrong in a run, on the user's wish. Goes there only when the reader says so.
 */
import { batch, effect, signal } from "@preact/signals";
import { asProblem, isAbort, type ServerActions } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { Bisection, RunBisection } from "../../data/messages/trials/bisection";
import type { ApiProblem } from "../../data/messages/job";
import { allData, announce, data, go } from "../../state/actions";
import { plural, short } from "../../state/format";
import { stepOfRun } from "../../state/link/links";
import { isOfPair } from "../../state/link/view";
import { currentKernel, rows, run, runKey, runName, view } from "../../state/state";
import { askChecks, checkOpen, wrongKernels } from "./checks";

/** What a search looks into: a kernel or all of a run; `of` is the letter of the run. */
interface Into {
  kind: "kernel" | "run";
  name: string;
  of: string;
}

export type Found = { kind: "kernel"; found: Bisection } | { kind: "run"; found: RunBisection };

export type Search = Into &
  (
    | { state: "running"; progress: string }
    | { state: "done"; answer: Found }
    | { state: "error"; error: ApiProblem }
  );

/** The last search, until it is closed. */
export const search = signal<Search | null>(null);
let job: AbortController | null = null;

/** Why no search can begin, a sentence; null where it can. */
export function whyNoSearch(): string | null {
  if (!data().server) return "To find the wrong step, open the trace itself with uopviz.";
  if (!run.value?.targets.length)
    return "The trace was not recorded by this compiler, which cannot compile its kernels again.";
  return null;
}

export const canSearch = (): boolean => whyNoSearch() === null && search.value?.state !== "running";
export const canSearchKernel = (): boolean => canSearch() && currentKernel.value !== null;

/** Looks into a kernel as it is compiled for a device, "" for that of the run, with these
 * optimisations. */
export async function findInKernel(
  kernel: number,
  how: { opts: string | null; device: string } = { opts: null, device: "" },
): Promise<void> {
  const row = rows.peek().find((r) => r.kind === "context" && r.id === kernel);
  if (!row) return;
  const of = runName.peek();
  await find({ kind: "kernel", name: short(row.name, 60), of }, (server) =>
    server.bisect(kernel, how),
  );
}

/** Looks into all of a run. */
export async function findInRun(of = runName.peek()): Promise<void> {
  const name = isOfPair(view.peek().page) ? `run ${of}` : "the run";
  await find({ kind: "run", name, of }, (server) => server.bisectRun());
  askChecks(); // it has checked steps on the way
}

async function find(into: Into, start: (server: ServerActions) => Promise<number>): Promise<void> {
  const { server } = allData().of(into.of);
  if (!server || search.peek()?.state === "running") return;
  const mine = (job = new AbortController());
  batch(() => {
    search.value = { ...into, state: "running", progress: "starting" };
    checkOpen.value = true;
  });
  try {
    const found = await follow<Found["found"]>(
      server,
      () => start(server),
      (progress) => {
        if (!mine.signal.aborted) search.value = { ...into, state: "running", progress };
      },
      mine.signal,
    );
    if (mine.signal.aborted) return;
    const answer = { kind: into.kind, found } as Found;
    batch(() => {
      search.value = { ...into, state: "done", answer };
      if (answer.kind === "run" && into.of === runName.peek()) markKernels(answer.found);
    });
    announce(foundWords(answer));
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    search.value = { ...into, state: "error", error: asProblem(thrown, into.name) };
  }
}

/** A step of the trace that an answer names. */
export interface WrongPlace {
  rewrite: number;
  step: number;
}

/** The steps of the trace that an answer names, the first one first, each once. */
export function placesOf(answer: Found): WrongPlace[] {
  const all =
    answer.kind === "kernel"
      ? [answer.found.inTrace]
      : [...answer.found.found.map((one) => one.inTrace), ...answer.found.steps.differing];
  const places = new Map<string, WrongPlace>();
  for (const at of all)
    if (at) places.set(`${at.rewrite} ${at.step}`, { rewrite: at.rewrite, step: at.step });
  return [...places.values()];
}

/** An answer in one sentence; the control has all of it. */
function foundWords(answer: Found): string {
  if (answer.kind === "run") {
    const { wrong, told } = answer.found;
    const places = placesOf(answer).length;
    if (wrong) return places ? `${plural(places, "step")} found wrong` : "The run is wrong";
    return told ? "No difference was found" : "No difference was found; not all could be judged";
  }
  const { culprit, failed } = answer.found;
  if (culprit?.match) return `Made wrong by ${culprit.match.rule.name}`;
  if (culprit) return `Made wrong by ${culprit.pass}`;
  return failed ? `Pass ${failed.pass} fails` : "No step is to blame";
}

/** Marks the kernels whose result is known to be wrong now. */
function markKernels(answer: RunBisection): void {
  const wrong = answer.kernels.filter((k) => k.state === "differs" || k.state === "fails");
  wrongKernels.value = new Set(wrong.map((k) => k.number));
}

/** Shows a step that a search in run `of` has named. */
export function openWrong({ rewrite, step }: WrongPlace, of: string): void {
  if (of !== runName.peek()) {
    location.hash = stepOfRun(of, rewrite, step);
    return;
  }
  const same = view.peek().rewrite === rewrite;
  const to = { page: "graphs", kernel: null, rewrite, step, tab: "step" } as const;
  go(same ? to : { ...to, slot: null, uid: null, node: null }, "push");
}

/** Ends the search, or puts its answer away; false if there was none. */
export function closeSearch(): boolean {
  const now = search.peek();
  if (!now) return false;
  job?.abort();
  search.value = null;
  if (now.state === "running") announce("The search was cancelled");
  return true;
}

/** Esc: ends a search that runs; its answer stays. */
export const escapeSearch = (): boolean =>
  search.peek()?.state === "running" ? closeSearch() : false;

/** An answer belongs to its run, and goes with it. */
export function startSearch(): void {
  effect(() => {
    void runKey.value;
    job?.abort();
    search.value = null;
  });
}
