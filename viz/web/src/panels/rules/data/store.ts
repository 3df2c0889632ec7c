/** What rules did and cost, and which of it is listed. */
import { computed, signal } from "@preact/signals";
import { announce, data, go } from "../../../state/actions";
import { compiledRowOf, rows, rules, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import type { RuleTotals } from "../../../data/messages/rule";
import { sorted } from "../../../ui/SortHead";
import { columnsFor, costliestFirst, knowsTries, listRules, passesOf, type Cost } from "./costs";
import { rulesLink } from "./link";

/** Asked for while the view is open: leaving it ends the counting. */
export const watchedTotals = new Watched<RuleTotals>(
  "api/rule-totals",
  () =>
    view.value.page === "rules" && rulesLink.value.of === null && rulesLink.value.inPass === null,
  (signal) => data().ruleTotals(signal),
  (t) => data().server !== null && t.counted < t.steps,
);
export const ruleTotals = watchedTotals.answer;
export const cursor = signal<string | null>(null);
/** The line whose rule is shown. */
export const chosen = signal<string | null>(null);

export const counted = computed(() => {
  const t = ruleTotals.value;
  return t !== null && t.counted >= t.steps;
});
export const costs = computed<readonly Cost[]>(() =>
  ruleTotals.value ? listRules(ruleTotals.value, rules.value, rulesLink.value) : [],
);
/** Whether the trace says how often rules were tried; true until it is read. */
export const triesKnown = computed(() => !ruleTotals.value || knowsTries(ruleTotals.value));
export const passNames = computed(() => (ruleTotals.value ? passesOf(ruleTotals.value) : []));
export const columns = computed(() => columnsFor(rulesLink.value.perPass));
/** The column that sorts, as in a link. */
export const order = computed(() => rulesLink.value.sort || costliestFirst(costs.value));
export const listed = computed(() => sorted(costs.value, columns.value, order.value));
export const chosenCost = computed(() => costs.value.find((c) => c.key === chosen.value) ?? null);

/** The pass that was looked at last. */
export const lastPass = computed(
  () => rows.value.find((r) => r.kind === "rewrite" && r.id === view.value.rewrite) ?? null,
);

let looking: AbortController | null = null;

/** The graphs, filtered to a rule, at a pass in which it fired; the last wish counts. */
export async function showSteps(cost: Cost): Promise<void> {
  looking?.abort();
  if (!cost.matches) {
    announce(`${cost.rule} never matched, so it has no steps`);
    return;
  }
  const mine = (looking = new AbortController());
  const named = new Set(cost.passes);
  const all = rows.peek();
  const of = compiledRowOf.peek();
  const candidates = all.filter(
    (r) => r.kind === "rewrite" && r.steps > 0 && named.has(r.name) && of[r.row] === -1,
  );
  let target = candidates[0];
  try {
    const found = await data().search(cost.rule, mine.signal);
    const fired = new Set(
      found.hits.filter((h) => h.kind === "rule" && h.text === cost.rule).map((h) => h.row),
    );
    target = candidates.find((r) => fired.has(r.row)) ?? target;
  } catch {
    // The first pass of that name is a good guess, too.
  }
  if (mine.signal.aborted || view.peek().page !== "rules") return;
  if (!target) {
    announce(`${cost.rule} changed nothing`);
    return;
  }
  const change = { page: "graphs", rewrite: target.id, rule: cost.id, op: null } as const;
  go({ ...change, step: null, slot: null, uid: null, node: null, tab: "step" }, "push");
}
