/**
 * The state of the page as signals. Changes come from actions.ts and live.ts only; panels read.
 * Never touches the DOM or the network.
 */
import { computed, signal } from "@preact/signals";
import type { ApiProblem } from "../data/messages/job";
import type { RuleMatches } from "../data/messages/rule";
import { firstFrom } from "../model/filter";
import { type MatchPlace, type PassMatches, passesByRule, placeAmong } from "../model/matches";
import { short } from "./format";
import { createRunState } from "./runState";

/** The run that the panels show. */
export const {
  run,
  runKey,
  isLive,
  rows,
  rules,
  view,
  bundle,
  timeline,
  loading,
  loadError,
  preview,
  hovered,
  stepCount,
  arrived,
  unreadable,
  step,
  currentStep,
  currentRule,
  sides,
  filtered,
  passing,
  firings,
  currentRow,
  rewriteRows,
  compiledRowOf,
  currentCompilation,
  kernelPage,
  currentKernel,
  currentSchedule,
  newSteps,
} = createRunState();

export type Connection =
  | { kind: "starting" }
  | { kind: "connected" }
  | { kind: "embedded" }
  /** `why`: one sentence without its full stop. */
  | { kind: "lost"; retryAt: number; why: string };

export const connection = signal<Connection>({ kind: "starting" });
/** A failure that leaves nothing to look at. */
export const fatal = signal<ApiProblem | null>(null);
/** Problems that the page itself met, newest last. */
export const ownProblems = signal<readonly ApiProblem[]>([]);
/** One sentence for screen readers and the status bar. */
export const announcement = signal("");

/** The address that was opened is of another run: the name of its trace, and what it says. */
export const otherLink = signal<{ name: string; hash: string } | null>(null);
/** The trace that the server was told to go on with, until it is shown. */
export const opening = signal<{ name: string; since: number } | null>(null);

export type Overlay = "palette" | "keys" | "place" | null;
export const overlay = signal<Overlay>(null);
/** On small windows: the side panel that lies over the graph. */
export const sidePanel = signal<"nav" | "insp" | null>(null);
/** In CSS pixels. */
export const windowWidth = signal(1440);

/** A rule's name, also for one that has not arrived yet. */
export function ruleName(id: number): string {
  return short(rules.value.get(id)?.name ?? `rule ${id}`);
}

/** The last answer about where rules matched, and the run that it is about. */
const answered = signal<{ run: string; answer: RuleMatches } | null>(null);

/** What is known of the run that is shown. */
export const ruleMatches = computed(() =>
  answered.value?.run === runKey.value ? answered.value.answer : null,
);

export function keepMatches(answer: RuleMatches): void {
  answered.value = { run: runKey.peek(), answer };
}

const matchedPasses = computed(() =>
  passesByRule(ruleMatches.value, (rewrite) => rewriteRows.value.get(rewrite)?.row),
);

/** The nearest pass after (or before) another one in which the rule matched. */
export function nextPassOf(rule: number, from: number, direction: 1 | -1): PassMatches | null {
  const passes = matchedPasses.value.get(rule) ?? [];
  const row = (rewrite: number): number => rewriteRows.value.get(rewrite)?.row ?? -1;
  const here = row(from);
  const later = (p: PassMatches): boolean => (row(p.rewrite) - here) * direction > 0;
  return (direction > 0 ? passes.find(later) : passes.findLast(later)) ?? null;
}

/** Which match of its rule the current step is, of all in the run; null until that is known. */
export const matchPlace = computed<MatchPlace | null>(() => {
  const at = currentStep.value;
  const passes = at && matchedPasses.value.get(at.rule);
  if (!at || !passes || !arrived.value) return null;
  const within = firstFrom(firings.value.get(at.rule) ?? [], step.value);
  return placeAmong(passes, bundle.value?.rewrite ?? -1, within);
});
