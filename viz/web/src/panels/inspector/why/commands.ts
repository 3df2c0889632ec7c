/** Commands about rules that did not fire. */
import { type Command, hasPass } from "../../../parts/command";
import { wordsOf } from "../../../parts/search/rank";
import { short } from "../../../state/format";
import { focusField } from "../../../state/regions";
import { rules, sidePanel, windowWidth } from "../../../state/state";
import { ask } from "./data/link";
import { bringNear, choosing } from "./data/store";

/** Below this width the inspector lies over the graph. */
export const SMALL = 1080;
/** Rules of the palette that a query finds. */
const MOST = 5;

/** Opens the list of rules, with the focus in its field. */
export function openChooser(): void {
  ask({});
  choosing.value = true;
  show();
  requestAnimationFrame(() => focusField("#why-rule"));
}

function show(): void {
  if (windowWidth.peek() < SMALL) sidePanel.value = "insp";
}

export const whyCommands: readonly Command[] = [
  {
    id: "why",
    title: "Why did a rule not fire here",
    group: "Rule and node",
    keys: ["W"],
    when: hasPass,
    run: openChooser,
  },
  {
    id: "near",
    title: "Where in this pass the rule nearly fires",
    group: "Rule and node",
    keys: [],
    when: hasPass,
    run: askNear,
  },
];

/** Lists the near misses, and brings them into view. */
export function askNear(): void {
  ask({ near: true });
  bringNear.value = true;
  show();
}

/** For the palette: the question about each rule that the query names. */
export function whyRuleCommands(query: string): readonly Command[] {
  const words = wordsOf(query);
  if (!words.length || !hasPass()) return [];
  const named = [...rules.value.values()].filter((rule) =>
    words.some((word) => rule.name.toLowerCase().includes(word)),
  );
  return named.slice(0, MOST).map((rule) => ({
    ...{ id: `why-${rule.id}`, title: `Why did ${short(rule.name, 60)} not fire here` },
    ...{ group: "Rule and node", keys: [] },
    run: () => {
      choosing.value = false;
      ask({ rule: rule.id });
      show();
    },
  }));
}
