/** Every command of the page, for keys, key sheet and palette. */
import { type Command, onPage } from "../parts/command";
import { pageOf } from "../parts/panel";
import { rulePageCommands } from "../parts/rule/ruleCommands";
import { pageCommands, runCommands } from "./pageCommands";
import { panels } from "./panels";

export const commands: readonly Command[] = [
  ...panels.flatMap((panel) => onPage(pageOf(panel), panel.commands ?? [])),
  ...pageCommands,
];

/** What the palette offers besides: commands that depend on what is looked at. */
export const moreCommands = (query: string): readonly Command[] => [
  ...panels.flatMap((panel) => onPage(pageOf(panel), panel.moreCommands?.(query) ?? [])),
  ...rulePageCommands(query),
  ...runCommands(),
];
