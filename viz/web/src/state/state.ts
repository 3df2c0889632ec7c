/**
 * The state of the page as signals. Changes come from actions.ts and live.ts only; panels read.
 * Never touches the DOM or the network.
 */
import { signal } from "@preact/signals";
import type { ApiProblem } from "../data/types";
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
  currentKernel,
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
