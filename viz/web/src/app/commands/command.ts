/** What a command is, and the conditions that several share. */
import { data } from "../actions";
import { bundle, currentStep, view } from "../state";

export interface Command {
  id: string;
  title: string;
  group: "Steps" | "Graph" | "Rule and node" | "Sources" | "Page";
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
export const enabled = (c: Command): boolean => c.when?.() ?? true;
