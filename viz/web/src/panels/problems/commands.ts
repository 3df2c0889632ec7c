/** Commands of the problems. */
import type { Command } from "../../parts/command";
import { overlay } from "../../state/state";

export const problemsCommands: readonly Command[] = [
  {
    id: "problems",
    title: "Problems",
    group: "Sources",
    keys: [],
    run: () => (overlay.value = "problems"),
  },
];
