/** The problems, as the page knows them. */
import type { DrawerPanel } from "../../parts/panel";
import { ownProblems, run } from "../../state/state";
import { problemsCommands } from "./commands";
import { Problems } from "./Problems";

export const problemsPanel: DrawerPanel = {
  id: "problems",
  title: "Problems",
  place: "drawer",
  tab: "problems",
  component: Problems,
  badge: () => (run.value?.problems.length ?? 0) + ownProblems.value.length,
  commands: problemsCommands,
};
