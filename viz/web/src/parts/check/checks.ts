/**
 * Whether steps are right: what is known of the passes of the run and of the steps of the pass that is
 * shown, and checks on the user's wish, one at a time.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort, type CheckWhat } from "../../data/backend";
import { follow } from "../../data/jobs";
import type {
  CheckDone,
  Checks,
  PassVerdicts,
  Verdict,
  WholeKernel,
} from "../../data/messages/trials/verdicts";
import type { ApiProblem } from "../../data/messages/job";
import { allData, announce, data, goStep, openRewrite } from "../../state/actions";
import { short } from "../../state/format";
import { isOfPair } from "../../state/link/view";
import {
  currentRow,
  openRuns,
  rewriteRows,
  rows,
  rowsArrived,
  runKey,
  runName,
  step,
  view,
} from "../../state/state";
import { Watched } from "../../state/watched";
import { countsWords, knownByPass, type Mark, markOfRun, marksOf } from "./marks";
import { ranWords } from "./wholes";

const watchedChecks = new Watched<Checks>(
  "api/checks",
  () => rowsArrived.value && rows.value.length > 0 && !isOfPair(view.value.page),
  (abort) => data().checks(abort),
);

/** What is known of each pass. */
export const known = computed(() => knownByPass(watchedChecks.answer.value));
const judged = computed(() => {
  const answer = watchedChecks.answer.value;
  return answer && !answer.problem ? answer : null;
});
/** Kernels of the run that is shown whose result was found to differ, by their contexts. */
export const wrongKernels = signal<ReadonlySet<number>>(new Set());
/** What is known of kernels as a whole, by their contexts. */
export const wholes = computed<ReadonlyMap<number, WholeKernel>>(
  () => new Map(watchedChecks.answer.value?.kernels.map((one) => [one.kernel, one])),
);
/** The marks of all rows; none where nothing of the run can be checked. */
export const marks = computed(() =>
  judged.value ? marksOf(rows.value, known.value, wrongKernels.value, wholes.value) : [],
);
/** Whether what is known has not been heard yet. */
export const isAwaited = computed(
  () => watchedChecks.answer.value === null && watchedChecks.error.value === null,
);
/** What would give better answers; "" for nothing. */
export const betterHint = computed(() => watchedChecks.answer.value?.hint ?? "");

/** The runs that are compared, by their letters; the page that compares them says which. */
export const comparedRuns = signal<readonly string[]>([]);

/** What is known of the runs that are compared, in their order. */
const watchedPair = new Watched<Checks[]>(
  "api/checks",
  () =>
    isOfPair(view.value.page) &&
    comparedRuns.value.every((name) => openRuns.value.some((one) => one.name === name)),
  (abort) => Promise.all(comparedRuns.peek().map((name) => allData().of(name).checks(abort))),
  undefined,
  () => comparedRuns.value.join(" "),
);

/** What is known of a run that is shown or compared; null where that has not arrived. */
export function checksOf(name: string): Checks | null {
  if (!isOfPair(view.value.page)) return name === runName.value ? watchedChecks.answer.value : null;
  return watchedPair.answer.value?.[comparedRuns.value.indexOf(name)] ?? null;
}

/** The mark of such a run; null where there is none. */
export function markOf(name: string): Mark | null {
  const found = checksOf(name);
  if (!found || found.problem) return null;
  return markOfRun(found, name === runName.value ? wrongKernels.value.size : 0);
}

/** Asks anew what is known. */
export function askChecks(): void {
  if (isOfPair(view.peek().page)) watchedPair.retry();
  else watchedChecks.retry();
}

const rewrite = computed(() => view.value.rewrite);
/** Changes when more is known of the pass that is shown. */
const state = computed(() => {
  const of = rewrite.value === null ? undefined : known.value.get(rewrite.value);
  return of ? JSON.stringify(of) : "";
});

const watchedVerdicts = new Watched<PassVerdicts>(
  "api/verdicts",
  () => view.value.page === "graphs" && state.value !== "",
  (abort) => data().verdicts(rewrite.peek()!, abort),
  undefined,
  () => `${rewrite.value} ${state.value}`,
);

const NONE: ReadonlyMap<number, Verdict> = new Map();

/** The verdicts of the pass that is shown, by step. */
export const verdicts = computed<ReadonlyMap<number, Verdict>>(() => {
  const found = watchedVerdicts.answer.value;
  if (!found || found.rewrite !== rewrite.value) return NONE;
  return new Map(found.steps.map(([at, , which]) => [at, found.verdicts[which]!]));
});

/** Whether the control is open. */
export const checkOpen = signal(false);

/** The check that is under way. */
export const checking = signal<{ what: string; progress: string } | null>(null);
/** Why the last one failed. */
export const checkError = signal<ApiProblem | null>(null);
let job: AbortController | null = null;

/** Why nothing of a run can ever be checked, a sentence; null where it can. */
export function whyNeverChecked(name = runName.value): string | null {
  const problem = checksOf(name)?.problem;
  return problem ? `${problem[0]!.toUpperCase()}${problem.slice(1)}.` : null;
}

/** Why nothing can be checked from here, a sentence; null where it can. */
export function whyNoCheck(name = runName.value): string | null {
  if (!allData().of(name).server) return "To check steps, open the trace itself with uopviz.";
  const { error } = isOfPair(view.value.page) ? watchedPair : watchedChecks;
  return error.value ? `${error.value.what}.` : whyNeverChecked(name);
}

export const canCheck = (): boolean => whyNoCheck() === null && checking.value === null;

/** The steps of a rule, in the whole run. */
export function checkRule(rule: number, name: string): void {
  void check({ rule, again: true }, short(name, 60));
}

/** Least time between two questions for what is known while a check goes on, ms. */
const OFTEN = 1000;

/** Checks a part of a run; `name`: what it is called. */
export async function check(what: CheckWhat, name: string, of = runName.peek()): Promise<void> {
  const { server } = allData().of(of);
  if (!server || checking.peek()) return;
  const mine = (job = new AbortController());
  let asked = performance.now();
  batch(() => {
    checking.value = { what: name, progress: "starting" };
    checkError.value = null;
  });
  try {
    const done = await follow<CheckDone>(
      server,
      () => server.check(what),
      (progress) => {
        if (mine.signal.aborted || checking.peek()?.progress === progress) return;
        checking.value = { what: name, progress };
        if (performance.now() - asked < OFTEN) return;
        asked = performance.now();
        askChecks();
      },
      mine.signal,
    );
    const ran = ranWords(done.kernels);
    announce(`Checked ${name}: ${countsWords(done.counts) || "no steps"}${ran && `; ${ran}`}`);
  } catch (thrown) {
    if (!isAbort(thrown) && !mine.signal.aborted) checkError.value = asProblem(thrown, name);
  } finally {
    if (job === mine) {
      job = null;
      checking.value = null;
      askChecks();
    }
  }
}

/** Ends the check; what was checked until then stays known. False if there was none. */
export function cancelCheck(): boolean {
  if (!job) return false;
  job.abort();
  announce("The check was cancelled");
  return true;
}

/** Whether a step is known to differ. */
export const someDiffer = computed(
  () => watchedChecks.answer.value?.differs.some((n) => n > 0) ?? false,
);

/** Goes to the next (or previous) step that differs, in this pass or another one. */
export function nextDiffering(direction: 1 | -1): void {
  const here = currentRow.peek()?.row ?? -1;
  const found = watchedChecks.answer.peek();
  const places = (found?.rewrite ?? [])
    .map((id, i) => ({ row: rewriteRows.peek().get(id)?.row ?? -1, id, at: found!.differing[i]! }))
    .filter((one) => one.row >= 0 && one.at.length > 0)
    .sort((a, b) => a.row - b.row);
  const inside = places.find((one) => one.row === here)?.at ?? [];
  const now = step.peek();
  const to = direction > 0 ? inside.find((k) => k > now) : inside.findLast((k) => k < now);
  const next =
    direction > 0 ? places.find((one) => one.row > here) : places.findLast((one) => one.row < here);
  if (to !== undefined) goStep(to);
  else if (next) openRewrite(next.id, next.at.at(direction > 0 ? 0 : -1));
  else if (!places.length) announce("No step that was checked differs");
  else announce(`No ${direction > 0 ? "later" : "earlier"} step that was checked differs`);
}

/** Follows the run and the view from now on. */
export function startChecks(): void {
  watchedChecks.start();
  watchedVerdicts.start();
  watchedPair.start();
  effect(() => {
    void runKey.value;
    job?.abort(); // it is of another run
    checkError.value = null;
    wrongKernels.value = new Set();
  });
}
