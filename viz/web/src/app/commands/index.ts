/** Every command of the page, in the order of the key sheet: one table for keys and palette. */
import type { Command } from "./command";
import { graphCommands } from "./graph";
import { pageCommands } from "./page";
import { stepCommands } from "./steps";
import { subjectCommands } from "./subject";

export { enabled, type Command } from "./command";

export const commands: readonly Command[] = [
  ...stepCommands,
  ...graphCommands,
  ...subjectCommands,
  ...pageCommands,
];
