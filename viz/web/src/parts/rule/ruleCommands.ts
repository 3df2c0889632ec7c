/** For the palette: the pages of the rules that a query names, whatever page is open. */
import { followLink } from "../../state/actions";
import { short } from "../../state/format";
import { ruleAt } from "../../state/link/links";
import { rules } from "../../state/state";
import type { Command } from "../command";
import { wordsOf } from "../search/rank";

/** Rules that are offered; the page of rules lists all. */
const MOST = 5;

export function rulePageCommands(query: string): readonly Command[] {
  const words = wordsOf(query);
  if (!words.length) return [];
  const named = [...rules.value.values()].filter((rule) =>
    words.some((word) => rule.name.toLowerCase().includes(word)),
  );
  return named.slice(0, MOST).map((rule) => ({
    ...{ id: `rule-page-${rule.id}`, title: `Open the page of rule ${short(rule.name, 60)}` },
    ...{ group: "Rules", keys: [], run: () => followLink(ruleAt(rule.id)) },
  }));
}
