/** The inspector, as the page knows it. */
import type { FramePanel } from "../../parts/panel";
import { inspectorCommands } from "./commands";
import { Inspector } from "./Inspector";
import { startHistory } from "./history/lineages";
import { watchedTiles } from "./tile/store";

export const inspectorPanel: FramePanel = {
  id: "inspector",
  title: "Inspector",
  place: "right",
  component: Inspector,
  commands: inspectorCommands,
  start: () => {
    startHistory();
    watchedTiles.start();
  },
};
