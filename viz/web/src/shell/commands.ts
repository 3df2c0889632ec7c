/** Every command of the page, for keys, key sheet and palette. */
import { type Command, commandsFor } from "../parts/command";
import { pageOf, type Panel } from "../parts/panel";
import { rulePageCommands } from "../parts/rule/ruleCommands";
import { pageCommands, runCommands } from "./pageCommands";
import { isThere, panels } from "./panels";

export const commands: readonly Command[] = [
  ...panels.flatMap((panel) => commandsFor(pageOf(panel), panel.needs, panel.commands ?? [])),
  ...pageCommands,
];

/** What the palette offers besides: commands that depend on what is looked at. */
export const moreCommands = (query: string): readonly Command[] => [
  ...panels.flatMap((panel) => commandsOf(panel, query)),
  ...rulePageCommands(query),
  ...runCommands(),
];

const commandsOf = (panel: Panel, query: string): readonly Command[] =>
  isThere(panel)
    ? commandsFor(pageOf(panel), panel.needs, panel.moreCommands?.(query) ?? [])
    : [];
