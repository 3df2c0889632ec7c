/** What rules did and cost, as the page knows it. */
import type { PagePanel } from "../../parts/panel";
import { rulesCommands } from "./commands";
import { openRule, rulesLink } from "./link";
import { pageOf, watchedPage } from "./page/store";
import { RulesView } from "./RulesView";
import { watchedTotals } from "./store";
import { focusField } from "../../state/regions";

export const rulesPanel: PagePanel = {
  id: "rules",
  title: "Rules",
  place: "page",
  page: "rules",
  component: RulesView,
  commands: rulesCommands,
  link: rulesLink,
  focusSearch: () => focusField("#rule-search"),
  start: () => {
    watchedTotals.start();
    watchedPage.start();
  },
  escape: () => {
    if (pageOf.peek() === null) return false;
    openRule(null);
    return true;
  },
};
