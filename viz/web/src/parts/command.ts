/** What a command is, and the conditions that several share. */
import { data } from "../state/actions";
import { bundle, currentStep, view } from "../state/state";
import type { Page } from "../state/link/view";

/** In the order of the key sheet. */
export const GROUPS = [
  "Steps",
  "Graph",
  "Rule and node",
  "Sources",
  "Workbench",
  "Timeline",
  "Rules",
  "Overview",
  "Compare",
  "Page",
] as const;
export type CommandGroup = (typeof GROUPS)[number];

export interface Command {
  id: string;
  title: string;
  group: CommandGroup;
  /** The only page on which it can be given; everywhere if absent. */
  page?: Page;
  /** As `keyName` gives them: "N", "Shift N", "Ctrl K", "ArrowLeft". */
  keys: readonly string[];
  run: () => void;
  /** Whether it does anything now; always if absent. */
  when?: () => boolean;
}

export const hasPass = (): boolean => bundle.value !== null;
export const hasStep = (): boolean => currentStep.value !== null;
export const hasSlot = (): boolean => view.value.slot !== null;
export const live = (): boolean => data().server !== null;

/** Whether the command does something now. */
export const enabled = (c: Command): boolean =>
  (c.page === undefined || c.page === view.value.page) && (c.when?.() ?? true);

/** The same commands, for one page only. */
export const onPage = (page: Page | null, commands: readonly Command[]): readonly Command[] =>
  page === null ? commands : commands.map((c) => ({ ...c, page }));
