/** What can be checked of what is looked at, from the step to the run, and what is known of each. */
import { computed } from "@preact/signals";
import type { CheckWhat } from "../../data/backend";
import type { Row } from "../../data/messages/run";
import { capital, count, plural, short } from "../../state/format";
import { isOfPair } from "../../state/link/view";
import {
  arrived,
  contextTitle,
  currentCompilation,
  currentRow,
  currentStep,
  currentSubject,
  isLive,
  kernelCount,
  kernelPage,
  openRuns,
  rows,
  ruleName,
  run,
  runName,
  step,
  view,
} from "../../state/state";
import { comparedRuns, known, markOf, marks, verdicts, whyNoCheck } from "./checks";
import { type Mark, markOfStep, briefWords, verdictWords } from "./marks";

/** One line of the control. */
export interface Scope {
  /** "Pass" */
  title: string;
  name: string;
  /** The letter of its run. */
  of: string;
  what: CheckWhat;
  mark: Mark;
  /** What is known of it, in words. */
  words: string;
  /** Nothing of it is left to check. */
  whole: boolean;
  /** Why it cannot be checked now, in a few words; null where it can. */
  why: string | null;
}

/** Of a run that goes on: what has not ended. */
const LATER = "after the run";

/** Whether the page is about the run as a whole. */
export const isOfRun = computed(() => view.value.page === "overview" && kernelPage.value === null);

/** What the control is about: the widest thing on which all of the line agrees. Its mark is the worst
 * of it. Two of them where two runs are compared. */
export const subjectScopes = computed<readonly Scope[]>(() => {
  if (isOfPair(view.value.page)) return comparedRuns.value.flatMap((name) => runScope(name) ?? []);
  const subject = isOfRun.value ? null : subjectScope();
  const found = subject ?? runScope(runName.value);
  return found ? [found] : [];
});

/** All lines, the narrowest first. */
export const scopes = computed<readonly Scope[]>(() => {
  const wide = subjectScopes.value;
  if (isOfPair(view.value.page) || isOfRun.value) return wide;
  const all = [stepScope(), passScope(), subjectScope(), runScope(runName.value)];
  return all.flatMap((one) => one ?? []);
});

function stepScope(): Scope | null {
  const at = arrived.value ? currentStep.value : null;
  const row = currentRow.value;
  if (!at || !row || view.value.page !== "graphs") return null;
  const verdict = verdicts.value.get(step.value);
  const mark = markOfStep(verdict);
  return {
    title: "Step",
    name: `${count(step.value)}, ${short(ruleName(at.rule), 60)}`,
    of: runName.value,
    what: { pass: row.id, rule: at.rule },
    mark,
    words: verdict ? verdictWords(verdict) : briefWords(mark),
    whole: verdict !== undefined,
    why: whyNoPass(row),
  };
}

function passScope(): Scope | null {
  const row = currentRow.value;
  const found = row && known.value.get(row.id);
  if (!row || (!row.steps && !found?.undone)) return null;
  const scope = ofRow(row, "Pass", `${short(row.name, 60)}, ${plural(row.steps, "step")}`, {
    what: { pass: row.id },
    whole: found?.whole === true,
    why: whyNoPass(row),
  });
  return scope && found?.undone ? { ...scope, words: found.undone } : scope;
}

function subjectScope(): Scope | null {
  const row = currentSubject.value;
  if (!row) return null;
  const title =
    row.label === "schedule" || row.label === "kernel"
      ? capital(contextTitle(row.label))
      : "Context";
  const mark = marks.value[row.row];
  return ofRow(row, title, short(row.name, 60), {
    what: { kernel: row.id },
    whole: mark?.missing === 0 && mark.whole.unasked === 0,
    why: isGoingOn(row) ? LATER : null,
  });
}

function runScope(name: string): Scope | null {
  const mark = markOf(name);
  if (!mark) return null;
  const isShown = name === runName.value;
  const said = isShown ? kernelCount(run.value?.totals.kernels ?? 0) : titleOf(name);
  return {
    title: isOfPair(view.value.page) ? `Run ${name}` : "Run",
    name: isOfPair(view.value.page) ? titleOf(name) : said,
    of: name,
    what: {},
    mark,
    words: briefWords(mark),
    whole: mark.missing === 0 && mark.whole.unasked === 0,
    why: isShown && isLive.value && !rows.value.some(isWholeKernel) ? LATER : null,
  };
}

const titleOf = (name: string): string =>
  short(openRuns.value.find((one) => one.name === name)?.title ?? "", 60);

const isWholeKernel = (row: Row): boolean => row.label === "kernel" && row.status !== "open";

const isGoingOn = (row: Row): boolean => isLive.value && row.status === "open";

const whyNoPass = (row: Row): string | null =>
  currentCompilation.value ? "compiled on request" : isGoingOn(row) ? LATER : null;

function ofRow(
  row: Row,
  title: string,
  name: string,
  more: Pick<Scope, "what" | "whole" | "why">,
): Scope | null {
  const mark = marks.value[row.row];
  return mark ? { title, name, of: runName.value, mark, words: briefWords(mark), ...more } : null;
}

/** Whether a line has a button now. */
export const canCheckScope = (scope: Scope): boolean =>
  scope.why === null && whyNoCheck(scope.of) === null;
