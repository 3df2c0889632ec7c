/** The inspector, as the page knows it. */
import type { FramePanel } from "../../parts/panel";
import { inspectorCommands } from "./commands";
import { Inspector } from "./Inspector";
import { startHistory } from "./history/lineages";
import { watchedTiles } from "./tile/store";
import { whyCommands, whyRuleCommands } from "./why/commands";
import { escapeCall, startCalls } from "./why/data/called";
import { whyLink } from "./why/data/link";
import { startWhy } from "./why/data/store";

export const inspectorPanel: FramePanel = {
  id: "inspector",
  title: "Inspector",
  place: "right",
  component: Inspector,
  commands: [...inspectorCommands, ...whyCommands],
  moreCommands: whyRuleCommands,
  link: whyLink,
  escape: escapeCall,
  start: () => {
    startHistory();
    watchedTiles.start();
    startWhy();
    startCalls();
  },
};
