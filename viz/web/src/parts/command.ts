/** What a command is, and the conditions that several share. */
import type { Action } from "../data/messages/bundle";
import { data } from "../state/actions";
import { can, bundle, currentStep, view } from "../state/state";
import type { Page } from "../state/link/view";
import type { BrowserKey, Key } from "./keyTable";

/** In the order of the key sheet. */
export const GROUPS = [
  "Steps",
  "Graph",
  "Rule and node",
  "Sources",
  "Emulator",
  "Workbench",
  "Timeline",
  "Rules",
  "Overview",
  "Compare",
  "Fleet",
  "Page",
] as const;
export type CommandGroup = (typeof GROUPS)[number];

export interface Command {
  id: string;
  title: string;
  group: CommandGroup;
  /** The pages on which it can be given; everywhere if absent. From others the palette goes there first. */
  pages?: readonly Page[];
  /** Of the table of keys. A command without one is found by name, and in a menu. */
  keys: readonly (Key | BrowserKey)[];
  /** What else one might call it: words that find it, too. */
  words?: string;
  run: () => void;
  /** Whether it does anything now; always if absent. */
  when?: () => boolean;
  /** The action of the run that it is part of: without it there is no such command. */
  needs?: Action;
  /** It ends what goes on: other pages offer it only then. */
  ends?: true;
}

/** Makes the commands of a group: ids get a prefix, and `here` is when they can be given if they do not say. */
export const commandMaker =
  (group: CommandGroup, prefix: string, here?: () => boolean) =>
  (id: string, title: string, keys: Command["keys"], run: () => void, when = here): Command => ({
    ...{ id: `${prefix}-${id}`, title, group, keys, run },
    ...(when && { when }),
  });

export const hasPass = (): boolean => bundle.value !== null;
export const hasStep = (): boolean => currentStep.value !== null;
export const hasSlot = (): boolean => view.value.slot !== null;
export const live = (): boolean => data().server !== null;

/** Whether it is one of the commands of a page. */
export const isOn = (c: Command, page: Page): boolean =>
  (c.pages?.includes(page) ?? true) && can(c.needs);

/** Whether the command does something now. */
export const enabled = (c: Command): boolean => isOn(c, view.value.page) && (c.when?.() ?? true);

/** The same commands, for one page only and with this need where they do not say others. */
export const commandsFor = (
  page: Page | null,
  needs: Action | undefined,
  commands: readonly Command[],
): readonly Command[] => commands.map((c) => ({ ...(page && { pages: [page] }), needs, ...c }));
