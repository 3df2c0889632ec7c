/** The inspector, as the page knows it. */
import type { FramePanel } from "../../parts/panel";
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
  commands: [...inspectorCommands, ...whyCommands],
  moreCommands: whyRuleCommands,
  link: whyLink,
  escape: () => escapeCall() || leaveWhy(),
  start: () => {
    startHistory();
    watchedTiles.start();
    startWhy();
    startCalls();
  },
};

/** Why not stands in the place of the rule: Esc goes back to it. */
function leaveWhy(): boolean {
  if (view.peek().page !== "graphs" || view.peek().tab !== "why") return false;
  go({ tab: "step" }, "replace");
  return true;
}
