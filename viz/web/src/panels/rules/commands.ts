/** Commands of the rules view. */
import {
  chosen,
  chosenCost,
  columns,
  costs,
  lastPass,
  order,
  ruleTotals,
  showSteps,
  triesKnown,
} from "./data/store";
import { nextOrder } from "../../ui/SortHead";
import { type Command, commandMaker } from "../../parts/command";
import { openPassRules, openRule, rulesLink, list } from "./data/link";
import { openNext, pageOf, passes, rulePage } from "./page/store";
import { passOf } from "./pass/store";

const isPage = (): boolean => pageOf.value !== null || passOf.value !== null;
const here = (): boolean => !isPage() && costs.value.length > 0;
const command = commandMaker("Rules", "rv", here);

export const rulesCommands: readonly Command[] = [
  command("sort", "Sort by the next column", [], () => sortBy(1)),
  command("sort-back", "Sort by the previous column", [], () => sortBy(-1)),
  command("turn", "Reverse the sort order", [], () => {
    const sort = order.peek();
    list({ sort: nextOrder(sort, sort.replace(/^-/, ""), true) });
  }),
  command("per-pass", "List rules per pass, or once for the whole run", [], () =>
    list({ perPass: !rulesLink.peek().perPass }),
  ),
  command(
    "never",
    "Show only rules that never matched, or all rules",
    [],
    () => list({ never: !rulesLink.peek().never }),
    () => !isPage() && ruleTotals.value !== null && triesKnown.value,
  ),
  command(
    "steps",
    "Show the steps of the selected rule",
    ["F"],
    () => void showSteps(chosenCost.peek()!),
    () => !isPage() && chosenCost.value !== null,
  ),
  command(
    "page",
    "Open the page of the selected rule",
    ["Enter"],
    () => openRule(chosenCost.peek()!.id),
    () => !isPage() && chosenCost.value !== null,
  ),
  command(
    "close",
    "Close the rule",
    [],
    () => {
      if (pageOf.peek() !== null) openRule(null);
      else if (passOf.peek() !== null) openPassRules(null);
      else chosen.value = null;
    },
    () => isPage() || chosen.value !== null,
  ),
  command(
    "time",
    "Show what tries took: in the pass that was looked at last, or of this rule by pass",
    [],
    () => {
      if (pageOf.peek() !== null) list({ byTime: !rulesLink.peek().byTime });
      else openPassRules(lastPass.peek()!.id);
    },
    () => (pageOf.value !== null ? rulePage.value !== null : !isPage() && lastPass.value !== null),
  ),
  command(
    "next",
    "Open the next pass in which the rule matched",
    ["]"],
    () => openNext(1),
    () => pageOf.value !== null && passes.value.length > 0,
  ),
  command(
    "previous",
    "Open the previous pass in which the rule matched",
    ["["],
    () => openNext(-1),
    () => pageOf.value !== null && passes.value.length > 0,
  ),
];

function sortBy(direction: 1 | -1): void {
  const now = order.peek().replace(/^-/, "");
  const at = columns.peek().findIndex((c) => c.key === now);
  const all = columns.peek();
  const next = all[(at + direction + all.length) % all.length]!;
  list({ sort: nextOrder("", next.key, next.right === true) });
}
