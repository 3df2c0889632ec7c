/** The beam search for the optimisations of the kernel; what it finds goes into the list. */
import { computed, effect, signal, untracked } from "@preact/signals";
import { asProblem, isAbort } from "../../../data/backend";
import { follow } from "../../../data/jobs";
import type { ApiProblem } from "../../../data/messages/job";
import type { FoundOpts } from "../../../data/messages/trials/workbench";
import { kernel } from "../../../parts/kernel/kernel";
import { announce, data } from "../../../state/actions";
import { capital, count, micros } from "../../../state/format";
import { runKey } from "../../../state/state";
import { state as bench } from "../data/bench";
import { askFor, benchDevice, benchTarget, edited, whyNot } from "../data/where";
import { replaceOpts } from "./opts";

export const WIDTHS = [1, 2, 4, 8] as const;
/** Members of the beam. */
export const width = signal<number>(4);

type State =
  | { kind: "idle" }
  /** `best`: what it has found so far. */
  | { kind: "running"; progress: string; best: FoundOpts | null }
  /** `ended`: what ended it before it was through, if anything did. */
  | { kind: "found"; found: FoundOpts; ended: string }
  | { kind: "error"; error: ApiProblem };

export const search = signal<State>({ kind: "idle" });
/** What ended a search whose kernel or device is no longer looked at. */
const LEFT = "ended when you went on";
let job: AbortController | null = null;

/** Not while both sides run: each would disturb the times of the other. */
export const canSearch = (): boolean =>
  !whyNot.value &&
  !edited.value &&
  !!benchDevice.value &&
  bench.value.kind !== "running" &&
  search.value.kind !== "running";

/** The kernel and the device that a search belongs to; "" where there is none. */
const about = computed(() => {
  const [k, device] = [kernel.value, benchDevice.value];
  return k && device ? JSON.stringify([runKey.value, k.context, device.device]) : "";
});

/** What the last search of a kernel on a device has found. */
interface Found {
  found: FoundOpts;
  ended: string;
  /** Whether it has been put into the list. */
  isTaken: boolean;
}

/** By `about`, the latest last. */
const foundOf = new Map<string, Found>();
const MOST_FOUND = 100;

function keepFound(of: string, made: Found): void {
  foundOf.delete(of);
  foundOf.set(of, made);
  if (foundOf.size > MOST_FOUND) foundOf.delete(foundOf.keys().next().value!);
}

/** Ends the search when the reader goes to another kernel or device. What it has found until then is
 * shown, and goes into the list, when they come back. */
export function startSearch(): void {
  let before = "";
  effect(() => {
    const now = about.value;
    untracked(() => {
      job?.abort();
      const best = bestSoFar();
      if (best) keepFound(before, { found: best, ended: LEFT, isTaken: false });
      const here = foundOf.get(now);
      search.value = here ? { kind: "found", found: here.found, ended: here.ended } : { kind: "idle" };
      if (here && !here.isTaken)
        queueMicrotask(() => {
          // After what the list itself does when its kernel changes.
          if (about.peek() === now && !here.isTaken) take(here.found, here.ended);
        });
    });
    before = now;
  });
}

/** The user's command to search. */
export async function searchOpts(): Promise<void> {
  const { server } = data();
  const k = kernel.peek();
  const device = benchDevice.peek()?.device;
  if (!server || !k || device === undefined || !canSearch()) return;
  const mine = (job = new AbortController());
  askFor(benchTarget.peek());
  search.value = { kind: "running", progress: "Starting", best: null };
  try {
    const found = await follow<FoundOpts>(
      server,
      () => server.searchOpts(k.context, device, width.peek()),
      (said, found) => {
        if (mine.signal.aborted) return;
        const progress = said && said !== "starting" ? capital(said) : "";
        const best = (found as FoundOpts | null) ?? bestSoFar();
        search.value = { kind: "running", progress: progress || "Starting", best };
      },
      mine.signal,
    );
    if (mine.signal.aborted) return;
    take(found, "");
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    const error = asProblem(thrown, k.name);
    const best = bestSoFar();
    if (best) take(best, `ended: ${error.what}`);
    else search.value = { kind: "error", error };
  }
}

/** What the search that runs has found until now. */
function bestSoFar(): FoundOpts | null {
  const now = search.peek();
  return now.kind === "running" ? now.best : null;
}

/** Puts what was found into the list. */
function take(found: FoundOpts, ended: string): void {
  keepFound(about.peek(), { found, ended, isTaken: true });
  search.value = { kind: "found", found, ended };
  replaceOpts(found.opts);
  announce(foundWords(found, ended));
}

/** Ends the search; what it has found until now goes into the list. */
export function cancelSearch(): boolean {
  if (search.peek().kind !== "running") return false;
  job?.abort();
  const best = bestSoFar();
  if (best) take(best, "cancelled");
  else search.value = { kind: "idle" };
  return true;
}

/** "Best 8.1 µs, chosen 9.9 µs; 57 tried, cancelled". */
export function foundWords(found: FoundOpts, ended: string): string {
  const cost = (of: number | null): string =>
    of === null ? "unknown" : found.counted ? `${count(of)} instructions` : micros(of);
  const failed = found.failed ? `, ${count(found.failed)} failed` : "";
  const why = ended || (found.inTime ? "" : "ended by the limit of time");
  const said = `Best ${cost(found.cost)}, chosen ${cost(found.first)}`;
  return `${said}; ${count(found.tried)} tried${failed}${why && `, ${why}`}`;
}
