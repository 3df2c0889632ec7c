/** What rules did and cost, as the page knows it. */
import type { PagePanel } from "../../parts/panel";
import { rulesCommands } from "./commands";
import { openPassRules, openRule, rulesLink } from "./data/link";
import { pageOf, watchedPage } from "./page/store";
import { passOf, watchedPass } from "./pass/store";
import { RulesView } from "./RulesView";
import { watchedTotals } from "./data/store";
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
    watchedPass.start();
  },
  escape: () => {
    if (pageOf.peek() !== null) openRule(null);
    else if (passOf.peek() !== null) openPassRules(null);
    else return false;
    return true;
  },
};
