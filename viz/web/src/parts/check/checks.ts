/**
 * Whether steps are right: what is known of the passes of the run and of the steps of the pass that is
 * shown, and checks on the user's wish, one at a time.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort, type CheckWhat } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { CheckDone, Checks, PassVerdicts, Verdict } from "../../data/messages/trials/verdicts";
import type { ApiProblem } from "../../data/messages/job";
import { announce, data, goStep, openRewrite } from "../../state/actions";
import { short } from "../../state/format";
import {
  currentCompilation,
  currentKernel,
  currentRow,
  rewriteRows,
  rows,
  rowsArrived,
  runKey,
  step,
  view,
} from "../../state/state";
import { Watched } from "../../state/watched";
import { countsWords, knownByPass, marksOf } from "./marks";

const onGraphs = computed(() => view.value.page === "graphs" && rowsArrived.value);

const watchedChecks = new Watched<Checks>(
  "api/checks",
  () => onGraphs.value,
  (abort) => data().checks(abort),
);

/** What is known of each pass. */
export const known = computed(() => knownByPass(watchedChecks.answer.value));
/** The marks of all rows, and of the run. */
export const marks = computed(() => marksOf(rows.value, known.value));
/** What would give better answers; "" for nothing. */
export const betterHint = computed(() => watchedChecks.answer.value?.hint ?? "");

const rewrite = computed(() => view.value.rewrite);
/** Changes when more is known of the pass that is shown. */
const state = computed(() => {
  const of = rewrite.value === null ? undefined : known.value.get(rewrite.value);
  return of ? JSON.stringify(of) : "";
});

const watchedVerdicts = new Watched<PassVerdicts>(
  "api/verdicts",
  () => onGraphs.value && state.value !== "",
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

/** The check that is under way. */
export const checking = signal<{ what: string; progress: string } | null>(null);
/** Why the last one failed. */
export const checkError = signal<ApiProblem | null>(null);
let job: AbortController | null = null;

/** Why nothing of what is shown can be checked, a sentence; null where it can. */
export function whyNoCheck(): string | null {
  if (!data().server) return "To check steps, open the trace itself with uopviz.";
  const { answer, error } = watchedChecks;
  if (error.value) return `${error.value.what}.`;
  const problem = answer.value?.problem;
  if (problem) return `${problem[0]!.toUpperCase()}${problem.slice(1)}.`;
  return null;
}

/** Why not the pass that is shown. */
export function whyNoPassCheck(): string | null {
  const why = whyNoCheck();
  if (why !== null || !currentCompilation.value) return why;
  return "This pass was compiled here on request. Steps that the program ran can be checked.";
}

export const canCheck = (): boolean => whyNoCheck() === null && checking.value === null;
export const canCheckPass = (): boolean => canCheck() && whyNoPassCheck() === null;

/** Checks the pass that is shown; again, where all of it is known. */
export function checkPass(): void {
  const row = currentRow.peek();
  if (!row) return;
  const again = known.peek().get(row.id)?.whole === true;
  void check({ pass: row.id, again }, short(row.name, 60));
}

export function checkKernel(): void {
  const row = currentKernel.peek();
  if (row) void check({ kernel: row.id }, short(row.name, 60));
}

export function checkRun(): void {
  void check({}, "the run");
}

/** The steps of a rule, in the whole run. */
export function checkRule(rule: number, name: string): void {
  void check({ rule, again: true }, short(name, 60));
}

/** Least time between two questions for what is known while a check goes on, ms. */
const OFTEN = 1000;

async function check(what: CheckWhat, name: string): Promise<void> {
  const { server } = data();
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
        watchedChecks.retry();
      },
      mine.signal,
    );
    announce(`Checked ${name}: ${countsWords(done.counts) || "no steps"}`);
  } catch (thrown) {
    if (!isAbort(thrown) && !mine.signal.aborted) checkError.value = asProblem(thrown, name);
  } finally {
    if (job === mine) {
      job = null;
      checking.value = null;
      watchedChecks.retry();
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
    direction > 0
      ? places.find((one) => one.row > here)
      : places.findLast((one) => one.row < here);
  if (to !== undefined) goStep(to);
  else if (next) openRewrite(next.id, next.at.at(direction > 0 ? 0 : -1));
  else if (!places.length) announce("No step that was checked differs");
  else announce(`No ${direction > 0 ? "later" : "earlier"} step that was checked differs`);
}

/** Follows the run and the view from now on. */
export function startChecks(): void {
  watchedChecks.start();
  watchedVerdicts.start();
  effect(() => {
    void runKey.value;
    job?.abort(); // it is of another run
    checkError.value = null;
  });
}
