/**
 * The state of the page as signals: one run (runState.ts), and what is not of a run. Changes come
 * from actions.ts and live.ts only; panels read. Never touches the DOM or the network.
 */
import { computed, signal } from "@preact/signals";
import type { Action, Dialect } from "../data/messages/bundle";
import type { ApiProblem } from "../data/messages/job";
import type { RunName } from "../data/messages/run";
import { createRunState, type RunState } from "./runState";
import { plural } from "./format";

/** The run that the panels show: all that is known of it, and what of it is selected. */
export const shownRun: RunState = createRunState();

/** Its parts by name, for panels that show one run. */
export const {
  runName,
  run,
  runKey,
  isLive,
  rows,
  rowsArrived,
  hasRows,
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
  onlyRule,
  passing,
  firings,
  currentRow,
  rewriteRows,
  compiledRowOf,
  currentCompilation,
  kernelPage,
  namedKernel,
  kernelOfPass,
  currentKernel,
  currentSchedule,
  subjectRowOf,
  subjects,
  currentSubject,
  newSteps,
  ruleName,
  ruleNames,
  ruleMatches,
  keepMatches,
  nextPassOf,
  nearestPassOf,
  matchPlace,
} = shownRun;

/** The runs that are open, in the order of their names, as far as is known. */
export const openRuns = signal<readonly RunName[]>([]);
/** Whether there is a choice: one run is the case of one, and shows nothing of it. */
export const severalRuns = computed(() => openRuns.value.length > 1);

export type Connection =
  | { kind: "starting" }
  | { kind: "connected" }
  | { kind: "embedded" }
  /** `why`: one sentence without its full stop. */
  | { kind: "lost"; retryAt: number; why: string }
  /** The server of a program's page has gone after the program, as it is to. */
  | { kind: "ended" };

export const connection = signal<Connection>({ kind: "starting" });
/** A failure that leaves nothing to look at. */
export const fatal = signal<ApiProblem | null>(null);
/** Problems that the page itself met, newest last. */
export const ownProblems = signal<readonly ApiProblem[]>([]);
/** One sentence for screen readers and the status bar. */
export const announcement = signal("");

/** The address that was opened is of a run that is not open: the name of its trace, or else of the
 * run, and what it says. */
export const otherLink = signal<{ name: string; hash: string } | null>(null);
/** The trace that the server was told to go on with, until it is shown. */
export const opening = signal<{ name: string; since: number } | null>(null);

/** "problems" and others that panels declare are the ids of those panels. */
export type Overlay = "palette" | "keys" | "place" | "problems" | "legend" | null;
export const overlay = signal<Overlay>(null);
/** On small windows: the side panel that lies over the graph. */
export const sidePanel = signal<"nav" | "insp" | null>(null);
/** In CSS pixels. */
export const windowWidth = signal(1440);

/** Whether there is this action for the run, as its dialect says: what it has none of, the page does not
 * show at all. An export of before dialects had all. */
export function can(action: Action | undefined): boolean {
  const known = dialect();
  return action === undefined || known === undefined || known.actions.includes(action);
}

const dialect = (): Dialect | undefined => run.value?.dialect;

/** "1 kernel", "2 kernels". */
/** Whether the run says when things happened. What was imported from some dumps does not. */
export const isTimed = computed(() => run.value === null || run.value.live || run.value.seconds > 0);

export function kernelCount(n: number): string {
  const words = dialect()?.contexts?.kernel;
  return plural(n, words?.title ?? "kernel", words?.plural);
}

/** "kernel", "schedule", as people call one. */
export const contextTitle = (role: "kernel" | "schedule"): string =>
  dialect()?.contexts?.[role]?.title ?? role;

/** A device by what people call it. */
export const deviceTitle = (device: string): string => dialect()?.devices?.[device] ?? device;

/** Whether a device is the one whose results others are compared with, which is not timed. */
export const isReference = (device: string): boolean =>
  device !== "" && device === dialect()?.reference;

/** The targets that are shown first. */
export const usualTargets = (): readonly string[] => dialect()?.usual ?? [];
