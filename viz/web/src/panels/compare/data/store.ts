/** What is known of the pair: the overview, the scope that is selected, and its texts. Asks only while
 * the page is open. */
import { computed } from "@preact/signals";
import type { Row } from "../../../data/messages/run";
import type {
  Comparison,
  FirstDifference,
  RulePair,
  ScopeComparison,
  ScopePair,
} from "../../../data/messages/compare";
import { currentSubject, openRuns, rewriteRows, rows, runName, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { compareLink, numbersOf, pairOf } from "./link";
import { isPairOpen, pairData } from "./ask";

export const isOpen = (): boolean => view.value.page === "compare";

/** What an answer of the pair depends on: a letter may come to stand for another trace. */
export const runsKey = computed(() => {
  const { a, b } = compareLink.value;
  const file = (name: string): string => openRuns.value.find((r) => r.name === name)?.file ?? "";
  return [a, file(a), b, file(b)].join(" ");
});

export const watchedPair = new Watched<Comparison>(
  "api/compare",
  () => isOpen() && isPairOpen(),
  (abort) => pairData().overview(abort),
  (answer) => !answer.done,
  () => runsKey.value,
);
export const comparison = watchedPair.answer;

/** Which side is the run that the other pages show; null for neither. */
export const shownSide = computed<"a" | "b" | null>(() => {
  const { a, b } = compareLink.value;
  return a === runName.value ? "a" : b === runName.value ? "b" : null;
});

/** The row of a scope in the run that the other pages show; undefined where it has none. */
export function rowOfScope(s: ScopePair): Row | undefined {
  const number = shownSide.value && s[shownSide.value];
  if (number === null) return undefined;
  if (s.kind === "other") return rewriteRows.value.get(number);
  return rows.value.find((r) => r.kind === "context" && r.id === number);
}

/** The scope that is selected, or that of the subject, or the first that differs; null: there is none. */
export const scope = computed<ScopePair | null>(() => {
  const all = comparison.value?.scopes ?? [];
  const named = compareLink.value.scope;
  const subject = named === null ? currentSubject.value : null;
  const found =
    named === null
      ? subject && all.find((s) => s.kind !== "other" && rowOfScope(s) === subject)
      : all.find((s) => keyOfScope(s) === named);
  return found ?? all.find((s) => s.state !== "equal") ?? all[0] ?? null;
});
export const keyOfScope = (s: ScopePair): string => pairOf(s.a, s.b);
/** "3.4", or "" without one. */
export const scopeKey = computed(() => (scope.value ? keyOfScope(scope.value) : ""));

/** Schedules and kernels have passes and texts; what stands outside of both is one pass. */
const hasParts = (): boolean => scope.value !== null && scope.value.kind !== "other";

export const watchedScope = new Watched<ScopeComparison>(
  "api/compare/scopes",
  () => isOpen() && hasParts(),
  (abort) => pairData().scopes(...numbersOf(scopeKey.peek()), abort),
  undefined,
  () => `${runsKey.value} ${scopeKey.value}`,
);

/** Whether a text can be seen: on the overview's first tab, or below the graphs. */
export function isTextSeen(): boolean {
  const { walk, tab, text } = compareLink.value;
  return walk === null ? tab === "kernels" : text;
}

/** Rules by their number in a run. */
const rulesBySide = computed(() => {
  const of = { a: new Map<number, RulePair>(), b: new Map<number, RulePair>() };
  for (const rule of comparison.value?.rules ?? []) {
    if (rule.a !== null) of.a.set(rule.a, rule);
    if (rule.b !== null) of.b.set(rule.b, rule);
  }
  return of;
});

/** The rule of a number in a run; undefined for one that no answer has told of. */
export const ruleOf = (side: "a" | "b", id: number | null | undefined): RulePair | undefined =>
  id === null || id === undefined ? undefined : rulesBySide.value[side].get(id);

/** A rule's name, also for one that has not arrived. */
export const nameOfRule = (side: "a" | "b", id: number): string =>
  ruleOf(side, id)?.name ?? `rule ${id}`;

/** The step at which the selected scope differs first; null: nowhere, or on one side only. */
export const firstDifference = computed<FirstDifference | null>(() => scope.value?.first ?? null);
