/**
 * The kernel whose sources are shown: the one of the current pass; or the texts of its schedule.
 * Fetches it when the pass changes, and keeps what it got. What was not recorded it compiles
 * (compiling runs nothing): unasked where this compiler made the run here, else on request.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { allData, data } from "../../state/actions";
import { shownSources } from "../../state/prefs";
import { retryNow } from "../../state/live";
import {
  currentCompilation,
  currentKernel,
  currentRow,
  currentSchedule,
  kernelPage,
  run,
  runKey,
  view,
} from "../../state/state";
import { asProblem, isAbort } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import type { Artifact, Kernel, Origins } from "../../data/messages/kernel";
import { compilesUnasked } from "../../ui/code/since";
import type { UserFile } from "../../data/messages/run";
import { Watched } from "../../state/watched";
import { columnKey, columnsToShow, targetOf } from "./columns";
import { inOrder, mostColumns, usedColumns, usualColumns, withColumn, withRoom } from "./choice";
import { PYTHON, userText } from "./userText";
import { BENCH, EMULATOR, isOfPair } from "../../state/link/view";
import { sourcesSize } from "./room";
import { capital } from "../../state/format";

export const kernel = signal<Kernel | null>(null);
/** The texts of the schedule of the current pass; null for a pass of a kernel. */
export const scheduleTexts = signal<readonly Artifact[] | null>(null);
export const kernelError = signal<ApiProblem | null>(null);
export const kernelOrigins = signal<Origins | null>(null);
/** The same of the nodes of what was compiled on request, while its passes are looked at. */
export const compiledOrigins = signal<Origins | null>(null);
/** Whether lines of sources are shown at all. */
const sourcesSeen = computed(
  () => kernelPage.value !== null || ["graphs", EMULATOR].includes(view.value.page),
);

/** Whether whole texts are shown; nothing is compiled unasked while they are not. */
const textsShown = computed(() => kernelPage.value !== null || sourcesSize.value === "half");

const userFiles = new Watched<UserFile[]>(
  "api/user-lines",
  () => sourcesSeen.value && (kernel.value?.places?.length ?? 0) > 0,
  (abort) => data().userLines(abort),
);

/** The user's own lines as a source; null while they are not here, or where the trace names none. */
export const userSource = computed(() => {
  const files = userFiles.answer.value ?? (userFiles.error.value ? [] : null);
  const places = kernel.value?.places;
  return files && places ? userText(files, places) : null;
});

/** Whether it is known which sources the kernel has: the user's own lines may come after it. */
export const isKnown = computed(
  () =>
    kernel.value !== null &&
    (!kernel.value.places?.length ||
      userFiles.answer.value !== null ||
      userFiles.error.value !== null),
);

/** Compiling, or failed to: by target. */
export type Compiling =
  { state: "running"; progress: string } | { state: "error"; error: ApiProblem };
export const compiling = signal<ReadonlyMap<string, Compiling>>(new Map());
/** Artifacts compiled here, of the current kernel, and the targets that they are of. */
const compiled = signal<readonly Artifact[]>([]);
export const complete = signal<ReadonlySet<string>>(new Set());

/**
 * The user's own lines, then recorded artifacts, then compiled ones that the record lacks; or the
 * texts of the schedule.
 */
export const kernelArtifacts = computed<readonly Artifact[]>(() => {
  if (scheduleTexts.value) return scheduleTexts.value;
  const recorded = kernel.value?.artifacts ?? [];
  const have = new Set(recorded.map(columnKey));
  const own = kernel.value && userSource.value ? [userSource.value.artifact] : [];
  return [...own, ...recorded, ...compiled.value.filter((a) => !have.has(columnKey(a)))];
});

/** How far the run came with the kernel: one that it did not finish is not compiled here either. */
export const progress = computed<"finished" | "running" | "unfinished">(() => {
  const status = currentKernel.value?.status ?? "ok";
  if (status === "ok") return "finished";
  return status === "open" && run.value?.live ? "running" : "unfinished";
});

/** Whether what the page is about is still on its way: its pass, or the kernel, and with it the button to
 * run it. */
export const awaited = computed(() => {
  const { page } = view.value;
  if (page === BENCH || isOfPair(page) || (page === "overview" && kernelPage.value === null))
    return false;
  if (page === "graphs" && currentRow.value === null) return true;
  return currentKernel.value !== null && kernel.value === null && kernelError.value === null;
});

/** The targets that the kernel can be compiled for. */
export const compilable = computed<readonly string[]>(() =>
  data().server !== null && kernel.value !== null && progress.value === "finished"
    ? (run.value?.targets ?? [])
    : [],
);

/** Targets that the reader has asked for in this run, of kernels that are not compiled unasked. */
const askedFor = signal<ReadonlySet<string>>(new Set());

/** Shows a column, in place of the one used longest ago where there is no room, or hides it; one that
 * has to be compiled is asked for with that. */
export function toggleColumn(key: string): void {
  const shown = shownColumns.peek();
  if (shown.includes(key)) shownSources.value = shown.filter((k) => k !== key);
  else showColumn(key);
}

/** Shows a column; one that has to be compiled is asked for with that. */
export function showColumn(key: string): void {
  askedFor.value = new Set([...askedFor.peek(), targetOf(key)]);
  const shown = shownColumns.peek();
  const next = withColumn(shown, key, usedColumns.peek(), mostColumns.peek());
  useColumn(key);
  if (next !== shown) shownSources.value = inOrder(next, run.peek()?.kinds ?? []);
}

/** The column has been used just now: it is the last that has to make room. */
export function useColumn(key: string): void {
  if (usedColumns.peek().at(-1) !== key)
    usedColumns.value = [...usedColumns.peek().filter((k) => k !== key), key];
}

/** Whether asking for the target would give sources that are not here yet. */
export function canCompile(target: string): boolean {
  return !complete.value.has(target) && compilable.value.includes(target);
}

/** Keys of the columns that are shown, in order; of a schedule all that there are. */
export const shownColumns = computed<readonly string[]>(() => {
  if (scheduleTexts.value) return scheduleTexts.value.map(columnKey);
  let generated = columnsToShow(
    shownSources.value,
    // What has been compiled meanwhile changes no choice.
    (kernel.value?.artifacts ?? []).filter((a) => !data().server || (a.passes ?? null) === null),
    data().server && compilesUnasked.value !== false ? (run.value?.targets ?? []) : [],
  );
  const asked = (shownSources.value ?? []).filter(
    (key) => !generated.includes(key) && askedFor.value.has(targetOf(key)),
  );
  if (asked.length) generated = [...generated, ...asked];
  const own = `${PYTHON}:`;
  if (!userSource.value) generated = generated.filter((key) => key !== own);
  else if (!shownSources.value && !generated.includes(own)) generated = [own, ...generated];
  if (!shownSources.value) generated = generated.slice(0, usualColumns.value);
  return withRoom(generated, usedColumns.value, mostColumns.value);
});

const attempt = signal(0);

/** Asks for the kernel again after a failure. */
export function retryKernel(): void {
  attempt.value += 1;
}

const COMPILE_AFTER_MS = 250;
const jobs = new Map<string, AbortController>();

export function startKernel(): void {
  userFiles.start();
  effect(() => {
    void runKey.value;
    askedFor.value = new Set();
  });
  let fetching: AbortController | null = null;
  let of: readonly unknown[] = [];
  effect(() => {
    const subject = currentKernel.value ?? currentSchedule.value;
    const context = subject?.id ?? null;
    // Of a kernel that is still compiled not everything has been recorded yet.
    const wanted = [context, runKey.value, subject?.status, attempt.value];
    if (wanted.every((part, i) => part === of[i])) return;
    of = wanted;
    fetching?.abort();
    cancelCompiles();
    batch(() => {
      kernel.value = null;
      scheduleTexts.value = null;
      kernelError.value = null;
      kernelOrigins.value = null;
      compiled.value = [];
      complete.value = new Set();
      compiling.value = new Map();
    });
    if (context === null) return;
    const mine = (fetching = new AbortController());
    void (currentKernel.value ? fetchKernel : fetchSchedule)(context, mine.signal);
  });
  let asking: AbortController | null = null;
  let asked: number | null = null;
  effect(() => {
    const context = currentCompilation.value?.id ?? null;
    if (context === asked) return;
    asked = context;
    asking?.abort();
    compiledOrigins.value = null;
    if (context === null) return;
    const mine = (asking = new AbortController());
    // Without them lines still link exactly.
    data()
      .origins(context, mine.signal)
      .then((found) => {
        if (!mine.signal.aborted) compiledOrigins.value = found;
      })
      .catch(() => undefined);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const k = kernel.value;
    clearTimeout(timer);
    if (!k || !textsShown.value || !data().server) return;
    const missing = missingTargets();
    if (missing.length) timer = setTimeout(() => missing.forEach(compile), COMPILE_AFTER_MS);
  });
}

/** Targets of shown columns without an artifact, a running job or a failure. */
function missingTargets(): string[] {
  const have = new Set(kernelArtifacts.value.map(columnKey));
  const targets = shownColumns.value.filter((key) => !have.has(key)).map(targetOf);
  return [...new Set(targets)].filter((t) => !compiling.value.has(t) && isWaiting(t));
}

/** Whether the kernel is to be compiled for a target as soon as that begins. */
export function isWaiting(target: string): boolean {
  const isAsked = compilesUnasked.value === true || askedFor.value.has(target);
  return isAsked && textsShown.value && canCompile(target);
}

async function fetchKernel(context: number, signal: AbortSignal): Promise<void> {
  try {
    const [found, origins] = await Promise.all([
      data().kernel(context, signal),
      // Without origins lines still link exactly; their absence is no reason to show nothing.
      data()
        .origins(context, signal)
        .catch(() => null),
    ]);
    if (signal.aborted) return;
    batch(() => {
      kernel.value = found;
      kernelOrigins.value = origins;
      const made = found.artifacts.filter((a) => (a.passes ?? null) !== null);
      complete.value = new Set(made.map((a) => a.target));
    });
  } catch (thrown) {
    if (!isAbort(thrown) && !signal.aborted)
      kernelError.value = asProblem(thrown, `kernel ${context}`);
  }
}

async function fetchSchedule(context: number, signal: AbortSignal): Promise<void> {
  try {
    const found = await data().schedule(context, signal);
    if (signal.aborted) return;
    batch(() => {
      scheduleTexts.value = found.artifacts;
      kernelOrigins.value = found.origins;
    });
  } catch (thrown) {
    if (!isAbort(thrown) && !signal.aborted)
      kernelError.value = asProblem(thrown, `schedule ${context}`);
  }
}

/** Compiles the current kernel for a target; again after a failure. */
export function compile(target: string): void {
  const { server } = data();
  const k = kernel.peek();
  if (!server || !k || jobs.has(target)) return;
  const mine = new AbortController();
  jobs.set(target, mine);
  const note = (what: Compiling | null): void => {
    if (mine.signal.aborted) return;
    const next = new Map(compiling.peek());
    if (what) next.set(target, what);
    else next.delete(target);
    compiling.value = next;
  };
  note({ state: "running", progress: `Compiling for ${target}` });
  follow<Artifact[]>(
    server,
    () => server.compile(k.context, target),
    (said) => {
      if (said && said !== "starting")
        note({ state: "running", progress: capital(said) });
    },
    mine.signal,
  )
    .then((made) => {
      if (mine.signal.aborted) return;
      batch(() => {
        compiled.value = [...compiled.peek(), ...made];
        complete.value = new Set([...complete.peek(), target]);
        note(null);
      });
      retryNow(allData()); // its passes are in the run now
    })
    .catch((thrown: unknown) => {
      if (isAbort(thrown)) return;
      note({ state: "error", error: asProblem(thrown, target) });
      retryNow(allData()); // perhaps those up to the failure
    })
    .finally(() => {
      if (jobs.get(target) === mine) jobs.delete(target);
    });
}

export function cancelCompile(target: string): void {
  jobs.get(target)?.abort();
  jobs.delete(target);
  const next = new Map(compiling.peek());
  next.set(target, {
    state: "error",
    error: { what: "Compiling was cancelled", where: target, hint: "" },
  });
  compiling.value = next;
}

function cancelCompiles(): void {
  for (const job of jobs.values()) job.abort();
  jobs.clear();
}
