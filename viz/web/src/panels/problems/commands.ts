/** Commands of the problems. */
import { toggleDrawer } from "../../state/drawer";
import type { Command } from "../../parts/command";

export const problemsCommands: readonly Command[] = [
  {
    id: "problems",
    title: "Problems",
    group: "Sources",
    keys: ["Shift P"],
    run: () => toggleDrawer("problems"),
  },
];
