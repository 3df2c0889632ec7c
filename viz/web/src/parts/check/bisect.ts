/**
 * Which step broke it: looks for the match that makes the result of a kernel wrong, on the user's wish,
 * and opens it.
 */
import { batch, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { Bisection } from "../../data/messages/trials/bisection";
import type { ApiProblem } from "../../data/messages/job";
import { announce, data, go, openContext } from "../../state/actions";
import { short } from "../../state/format";
import { currentKernel, rows, run, runKey, sidePanel, view, windowWidth } from "../../state/state";

export type Search =
  | { state: "running"; name: string; progress: string }
  | { state: "done"; name: string; answer: Bisection }
  | { state: "error"; name: string; error: ApiProblem };

/** The last search, until it is closed. */
export const search = signal<Search | null>(null);
let job: AbortController | null = null;

/** Why no search can begin, a sentence; null where it can. */
export function whyNoSearch(): string | null {
  if (!data().server) return "To find the step that broke it, open the trace itself with uopviz.";
  if (!run.value?.targets.length)
    return "The trace was not recorded by this compiler, which cannot compile its kernels again.";
  return null;
}

export const canSearch = (): boolean =>
  whyNoSearch() === null && currentKernel.value !== null && search.value?.state !== "running";

/** Below this width the inspector lies over the graph. */
const SMALL = 1080;

/** Looks into a kernel as it is compiled for a device, "" for that of the run, with these
 * optimisations. Its progress and its answer stand in the inspector. */
export async function findWrongStep(
  kernel: number,
  how: { opts: string | null; device: string } = { opts: null, device: "" },
): Promise<void> {
  const { server } = data();
  const row = rows.peek().find((r) => r.kind === "context" && r.id === kernel);
  if (!server || !row || search.peek()?.state === "running") return;
  const mine = (job = new AbortController());
  const name = short(row.name, 60);
  batch(() => {
    search.value = { state: "running", name, progress: "starting" };
    show(row.row);
  });
  try {
    const answer = await follow<Bisection>(
      server,
      () => server.bisect(kernel, how),
      (progress) => {
        if (!mine.signal.aborted) search.value = { state: "running", name, progress };
      },
      mine.signal,
    );
    if (mine.signal.aborted) return;
    search.value = { state: "done", name, answer };
    openFound(answer);
    announce(foundWords(answer));
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    search.value = { state: "error", name, error: asProblem(thrown, name) };
  }
}

/** An answer in one sentence; the inspector has all of it. */
function foundWords({ culprit, failed }: Bisection): string {
  if (culprit?.match) return `Made wrong by ${culprit.match.rule.name}`;
  if (culprit) return `Made wrong by ${culprit.pass}`;
  return failed ? `Pass ${failed.pass} fails` : "No step is to blame";
}

/** The step of the trace that an answer names; nothing where it has none. */
export function openFound({ inTrace }: Bisection): void {
  if (!inTrace) return;
  const { rewrite, step } = inTrace;
  const same = view.peek().rewrite === rewrite;
  const to = { page: "graphs", rewrite, step, tab: "step" } as const;
  go(same ? to : { ...to, slot: null, uid: null, node: null }, "push");
}

function show(row: number): void {
  if (view.peek().page !== "graphs" || currentKernel.peek()?.row !== row) openContext(row);
  go({ page: "graphs", tab: "step" }, "replace");
  if (windowWidth.peek() < SMALL) sidePanel.value = "insp";
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
