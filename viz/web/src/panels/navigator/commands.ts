/** Commands of the navigator. */
import type { Command } from "../../parts/command";
import { foldAll, unfoldAll } from "./tree";

export const navigatorCommands: readonly Command[] = [
  { id: "fold", title: "Collapse the navigator", group: "Page", keys: [], run: foldAll },
  { id: "unfold", title: "Expand the navigator", group: "Page", keys: [], run: unfoldAll },
];
