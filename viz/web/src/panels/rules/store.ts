/** What rules did and cost: fetched while the view is open, asked on until all nodes are counted. */
import { computed, effect, signal } from "@preact/signals";
import { announce, data, go } from "../../app/actions";
import { rows, rules, run, view } from "../../app/state";
import { asProblem, isAbort } from "../../data/backend";
import type { ApiProblem, RuleTotals } from "../../data/types";
import { sorted } from "../../ui/SortHead";
import { columnsFor, knowsTries, listRules, passesOf, type Cost } from "./costs";

export const ruleTotals = signal<RuleTotals | null>(null);
export const ruleTotalsError = signal<ApiProblem | null>(null);
export const cursor = signal<string | null>(null);
/** The line whose rule is shown. */
export const chosen = signal<string | null>(null);

const POLL_MS = 100;
const LIVE_MS = 2000;

export const counted = computed(() => {
  const t = ruleTotals.value;
  return t !== null && t.counted >= t.steps;
});
export const costs = computed<readonly Cost[]>(() =>
  ruleTotals.value ? listRules(ruleTotals.value, rules.value, view.value) : [],
);
/** Whether the trace says how often rules were tried; true until it is read. */
export const triesKnown = computed(() => !ruleTotals.value || knowsTries(ruleTotals.value));
export const passNames = computed(() => (ruleTotals.value ? passesOf(ruleTotals.value) : []));
export const columns = computed(() => columnsFor(view.value.perPass));
export const listed = computed(() => sorted(costs.value, columns.value, view.value.sort));
export const chosenCost = computed(() => costs.value.find((c) => c.key === chosen.value) ?? null);

let fetching: AbortController | null = null;

/** Asks while the view is open: leaving it ends the counting. */
export function startRules(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let of = "";
  const again = (ms: number): void => void (timer = setTimeout(() => void fetchTotals(), ms));
  effect(() => {
    const now = run.value;
    const open = view.value.page === "rules";
    clearTimeout(timer);
    if (!open) fetching?.abort();
    const key = now ? now.started + now.file : "";
    if (of !== key) ruleTotals.value = null;
    of = key;
    const have = ruleTotals.value;
    if (!now || !open) return;
    if (!have) again(0);
    else if (data().server && have.counted < have.steps) again(POLL_MS);
    else if (now.live) again(LIVE_MS);
  });
}

async function fetchTotals(): Promise<void> {
  fetching?.abort();
  const mine = (fetching = new AbortController());
  try {
    const found = await data().ruleTotals(mine.signal);
    if (mine.signal.aborted) return;
    ruleTotals.value = found;
    ruleTotalsError.value = null;
  } catch (thrown) {
    if (!isAbort(thrown) && !mine.signal.aborted)
      ruleTotalsError.value = asProblem(thrown, "api/rule-totals");
  }
}

export function retryTotals(): void {
  void fetchTotals();
}

/** The graphs, filtered to a rule, at a pass in which it fired. */
export async function showSteps(cost: Cost): Promise<void> {
  if (!cost.matches) {
    announce(`${cost.rule} has no steps: it never matched`);
    return;
  }
  const mine = new AbortController();
  const named = new Set(cost.passes);
  const all = rows.peek();
  const candidates = all.filter((r) => r.kind === "rewrite" && r.steps > 0 && named.has(r.name));
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
  if (!target) {
    announce(`${cost.rule} changed nothing`);
    return;
  }
  const change = { page: "graphs", rewrite: target.id, rule: cost.id, op: null } as const;
  go({ ...change, step: null, slot: null, uid: null, node: null, tab: "step" }, "push");
}
