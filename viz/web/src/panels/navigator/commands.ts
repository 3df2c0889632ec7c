/** Commands of the navigator. */
import type { Command } from "../../parts/command";
import { foldAll, unfoldAll } from "./tree";

export const navigatorCommands: readonly Command[] = [
  { id: "fold", title: "Fold the navigator", group: "Page", keys: [], run: foldAll },
  { id: "unfold", title: "Unfold the navigator", group: "Page", keys: [], run: unfoldAll },
];
