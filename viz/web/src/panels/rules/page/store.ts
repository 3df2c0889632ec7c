/** The page of a rule: what the trace says of it. Asks only while it is open. */
import { computed, signal } from "@preact/signals";
import type { RulePage } from "../../../data/messages/rule";
import { announce, data, go } from "../../../state/actions";
import { rows, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { rulesLink } from "../data/link";
import { type MatchedPass, matchedPasses, timedPasses } from "./places";

/** The rule whose page is open. */
export const pageOf = computed(() => (view.value.page === "rules" ? rulesLink.value.of : null));

export const watchedPage = new Watched<RulePage>(
  "api/rule-page",
  () => pageOf.value !== null,
  (abort) => data().rulePage(pageOf.peek()!, abort),
  (page) => data().server !== null && !page.done,
  () => String(pageOf.value),
);

export const rulePage = computed(() =>
  watchedPage.answer.value?.rule.id === pageOf.value ? watchedPage.answer.value : null,
);

export const passes = computed<readonly MatchedPass[]>(() =>
  rulePage.value ? matchedPasses(rulePage.value, rows.value) : [],
);

/** The passes in which its tries took most time; empty where that is not known. */
export const timed = computed<readonly MatchedPass[]>(() =>
  rulePage.value ? timedPasses(rulePage.value, rows.value) : [],
);

/** The line of the list of passes that keys act on. */
export const cursor = signal<string | null>(null);

/** The graphs at the first match of the rule in a pass, filtered to it; at the first step of the
 * pass where it did not match. */
export function openMatch(pass: MatchedPass): void {
  const rule = pass.matches ? pageOf.peek() : null;
  const change = { page: "graphs", rewrite: pass.row.id, rule, op: null } as const;
  go({ ...change, step: null, slot: null, uid: null, node: null, tab: "step" }, "push");
}

/** The pass in which it matched that comes after (or before) the one that was looked at last. */
export function openNext(direction: 1 | -1): void {
  const all = passes.peek();
  const here = rows.peek().find((r) => r.kind === "rewrite" && r.id === view.peek().rewrite);
  const at = here?.row ?? -1;
  const next =
    direction > 0
      ? (all.find((p) => p.row.row > at) ?? null)
      : (all.findLast((p) => p.row.row < at) ?? null);
  if (next) openMatch(next);
  else announce(`It matched in no ${direction > 0 ? "later" : "earlier"} pass`);
}
