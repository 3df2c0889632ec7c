/** Every command of the page, in the order of the key sheet: one table for keys and palette. */
import { type Command, onPage } from "./command";
import { graphCommands } from "./graph";
import { pageCommands } from "./page";
import { rulesCommands } from "./rules";
import { stepCommands } from "./steps";
import { subjectCommands } from "./subject";
import { timelineCommands } from "./timeline";

export { enabled, type Command } from "./command";

export const commands: readonly Command[] = [
  ...onPage("graphs", stepCommands),
  ...onPage("graphs", graphCommands),
  ...onPage("graphs", subjectCommands),
  ...onPage("timeline", timelineCommands),
  ...onPage("rules", rulesCommands),
  ...pageCommands,
];
