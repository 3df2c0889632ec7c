/** The problems, as the page knows them. */
import type { SheetPanel } from "../../parts/panel";
import { problemsCommands } from "./commands";
import { problemsNotice } from "./notice";
import { Problems } from "./Problems";

export const problemsPanel: SheetPanel = {
  id: "problems",
  title: "Problems",
  place: "sheet",
  component: Problems,
  commands: problemsCommands,
  notices: [problemsNotice],
};
