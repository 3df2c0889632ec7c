/** Every command of the page, in the order of the key sheet: one table for keys and palette. */
import { type Command, onPage } from "../parts/command";
import { graphCommands } from "../panels/centre/commands";
import { pageCommands } from "./pageCommands";
import { rulesCommands } from "../panels/rules/commands";
import { stepCommands } from "../panels/scrubber/commands";
import { subjectCommands } from "../panels/inspector/commands";
import { timelineCommands } from "../panels/timeline/commands";

export { enabled, type Command } from "../parts/command";

export const commands: readonly Command[] = [
  ...onPage("graphs", stepCommands),
  ...onPage("graphs", graphCommands),
  ...onPage("graphs", subjectCommands),
  ...onPage("timeline", timelineCommands),
  ...onPage("rules", rulesCommands),
  ...pageCommands,
];
