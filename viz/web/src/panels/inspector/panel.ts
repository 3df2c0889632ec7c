/** The inspector, as the page knows it. */
import { escapeSearch, startSearch } from "../../parts/check/bisect";
import { cancelCheck as escapeCheck, startChecks } from "../../parts/check/checks";
import type { FramePanel } from "../../parts/panel";
import { checkCommands, checkRuleCommands } from "./check/commands";
import { inspectorCommands } from "./commands";
import { go } from "../../state/actions";
import { view } from "../../state/state";
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
  escape: () => escapeSearch() || escapeCheck() || escapeCall() || leaveWhy(),
  start: () => {
    startHistory();
    watchedTiles.start();
    startWhy();
    startCalls();
    startChecks();
    startSearch();
  },
};

/** Why not stands in the place of the rule: Esc goes back to it. */
function leaveWhy(): boolean {
  if (view.peek().page !== "graphs" || view.peek().tab !== "why") return false;
  go({ tab: "step" }, "replace");
  return true;
}
