/** What is known of the folder of packed runs: its summary, the listed runs as far as they were
 * looked at, and the figure that is drawn. */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import type { Fleet, FleetNames, FleetQuestions, FleetRun, FleetSeries } from "../../data/fleet";
import type { ApiProblem } from "../../data/messages/job";
import { whileOpening } from "../../parts/traces/recent";
import { showRun } from "../../parts/traces/runs";
import { allData, announce, followLink, reportProblem } from "../../state/actions";
import { compareAt } from "../../state/link/links";
import { refreshRuns } from "../../state/live";
import { view } from "../../state/state";
import { fleetLink } from "./link";

/** Runs of one answer. */
export const PAGE = 200;
/** Lines that are listed; a search finds the others. */
export const MOST = 100_000;
/** Until what is typed is asked for. */
const PAUSE_MS = 120;

/** undefined: not known yet. */
export const fleet = signal<Fleet | null | undefined>(undefined);
/** null: not known yet. */
export const names = signal<FleetNames | null>(null);
export const problem = signal<ApiProblem | null>(null);
export const total = signal<number | null>(null);
export const series = signal<FleetSeries | null>(null);
/** The line of the list that keys are for. */
export const cursor = signal<number | null>(null);
/** The run that the next one is compared with. */
export const marked = signal<FleetRun | null>(null);
const pages = signal<ReadonlyMap<number, readonly FleetRun[]>>(new Map());

/** What the figure is of: as the link says, else the costliest rule. */
export const subject = computed(() => fleetLink.value.of || (names.value?.rules[0]?.name ?? ""));

const isOpen = computed(() => view.value.page === "fleet" && fleet.value !== null);
const questions = (): FleetQuestions => allData().fleet!;
let list = new AbortController();
/** That of the list whose lines are shown: until another one is answered, they stay. */
let listed: AbortSignal | null = null;
const asked = new Set<number>();

/** The run of a line, where it was answered. */
export const runAt = (line: number): FleetRun | undefined =>
  pages.value.get(Math.floor(line / PAGE))?.[line % PAGE];

/** Asks for the lines that are in view. */
export function need(line: number): void {
  const page = Math.floor(line / PAGE);
  if (asked.has(page)) return;
  asked.add(page);
  const { query, sort } = fleetLink.peek();
  const { signal } = list;
  void attempt(async () => {
    const found = await questions().runs(query, sort, page * PAGE, signal);
    if (signal.aborted) return;
    batch(() => {
      total.value = found.total;
      pages.value = new Map(listed === signal ? pages.peek() : []).set(page, found.runs);
      listed = signal;
    });
  });
}

/** Opens the trace of a run, beside those that are open. */
export function openRun(run: FleetRun): Promise<void> {
  return whileOpening(run.path || run.run, async () => {
    const name = await questions().open(run.run);
    await refreshRuns(allData());
    showRun(name);
    followLink(`#run=${name}`);
  });
}

/** Opens two runs and what differs between them. */
export function openPair(a: string, b: string): Promise<void> {
  return whileOpening(a, async () => {
    const before = await questions().open(a);
    const after = await questions().open(b);
    await refreshRuns(allData());
    marked.value = null;
    followLink(compareAt(before, after));
  });
}

/** Marks a run; with another one marked, opens both. */
export function mark(run: FleetRun): void {
  const other = marked.peek();
  if (other && other.run !== run.run) void openPair(other.run, run.run);
  else {
    marked.value = other ? null : run;
    announce(other ? "Unmarked" : "Marked; mark another run to compare the two");
  }
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    problem.value = null;
  } catch (thrown) {
    if (!isAbort(thrown)) problem.value = asProblem(thrown, "packed runs");
  }
}

export function start(): void {
  const { fleet: source } = allData();
  if (!source) {
    fleet.value = null;
    return;
  }
  source.summary().then(
    (found) => {
      fleet.value = found;
      if (found) void attempt(async () => void (names.value = await source.names()));
    },
    (thrown: unknown) => {
      fleet.value = null;
      reportProblem(asProblem(thrown, "packed runs"));
    },
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  const wanted = computed(() => JSON.stringify([fleetLink.value.query, fleetLink.value.sort]));
  effect(() => {
    void wanted.value;
    if (!isOpen.value) return;
    clearTimeout(timer);
    cursor.value = null;
    const again = (): void => {
      list.abort();
      list = new AbortController();
      asked.clear();
      need(0);
    };
    if (first) untracked(again);
    else timer = setTimeout(again, PAUSE_MS);
    first = false;
  });
  const figure = computed(() => JSON.stringify([fleetLink.value.metric, subject.value]));
  let drawing = new AbortController();
  effect(() => {
    void figure.value;
    if (!isOpen.value || !subject.value) return;
    drawing.abort();
    drawing = new AbortController();
    const { signal } = drawing;
    void attempt(async () => {
      const found = await source.series(fleetLink.peek().metric, subject.peek(), signal);
      if (!signal.aborted) series.value = found;
    });
  });
}
