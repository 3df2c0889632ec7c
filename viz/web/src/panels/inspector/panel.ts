/** The inspector, as the page knows it. */
import { escapeSearch, startSearch } from "../../parts/check/bisect";
import { cancelCheck as escapeCheck, startChecks } from "../../parts/check/checks";
import type { FramePanel } from "../../parts/panel";
import { checkCommands, checkRuleCommands } from "./check/commands";
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
  commands: [...inspectorCommands, ...checkCommands, ...whyCommands],
  moreCommands: (query) => [...whyRuleCommands(query), ...checkRuleCommands(query)],
  link: whyLink,
  escape: () => escapeSearch() || escapeCheck() || escapeCall(),
  start: () => {
    startHistory();
    watchedTiles.start();
    startWhy();
    startCalls();
    startChecks();
    startSearch();
  },
};
