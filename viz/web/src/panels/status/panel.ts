/** The status bar, as the page knows it. */
import type { StatusPanel } from "../../parts/panel";
import { replayCommands } from "../../parts/whatif/commands";
import { startChanged } from "../../parts/whatif/changed";
import { StatusBar } from "./StatusBar";

export const statusPanel: StatusPanel = {
  id: "status",
  title: "Status",
  place: "status",
  component: StatusBar,
  commands: replayCommands,
  start: startChanged,
};
