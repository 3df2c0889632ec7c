/**
 * Where a rule matched in the whole run: passes in the order of the run, and the place of a match
 * among all. Read when somebody first goes from match to match, and again while the program runs.
 */
import { computed, signal } from "@preact/signals";
import type { RuleMatches } from "../data/types";
import { firstFrom } from "../model/filter";
import { bundle, currentStep, firings, rewriteRows, runKey, step, view } from "./state";

/** The passes in which a rule matched, in the order of the run, and how often in each. */
export interface PassMatches {
  rewrite: number;
  matches: number;
}

/** The last answer, and the run that it is about. */
const answered = signal<{ run: string; answer: RuleMatches } | null>(null);

/** What is known of the run that is shown. */
export const ruleMatches = computed(() =>
  answered.value?.run === runKey.value ? answered.value.answer : null,
);

export function keepMatches(answer: RuleMatches): void {
  answered.value = { run: runKey.peek(), answer };
}

/** By rule; a pass that the page does not know yet comes last. */
const byRule = computed<ReadonlyMap<number, readonly PassMatches[]>>(() => {
  const all = ruleMatches.value;
  const found = new Map<number, PassMatches[]>();
  all?.rule.forEach((rule, i) => {
    const passes = found.get(rule) ?? [];
    passes.push({ rewrite: all.rewrite[i]!, matches: all.matches[i]! });
    found.set(rule, passes);
  });
  const order = (p: PassMatches): number => rewriteRows.value.get(p.rewrite)?.row ?? Infinity;
  for (const passes of found.values()) passes.sort((a, b) => order(a) - order(b));
  return found;
});

/** The nearest pass after (or before) another one in which the rule matched. */
export function nextPassOf(rule: number, from: number, direction: 1 | -1): PassMatches | null {
  const passes = byRule.value.get(rule) ?? [];
  const row = (rewrite: number): number => rewriteRows.value.get(rewrite)?.row ?? -1;
  const here = row(from);
  const later = (p: PassMatches): boolean => (row(p.rewrite) - here) * direction > 0;
  return (direction > 0 ? passes.find(later) : passes.findLast(later)) ?? null;
}

export interface MatchPlace {
  match: number;
  matches: number;
  pass: number;
  passes: number;
}

/** Which match of its rule the current step is, of all in the run; null until that is known. */
export const matchPlace = computed<MatchPlace | null>(() => {
  const at = currentStep.value;
  const here = bundle.value?.rewrite;
  const passes = at && byRule.value.get(at.rule);
  if (!at || !passes || here !== view.value.rewrite) return null;
  const pass = passes.findIndex((p) => p.rewrite === here);
  if (pass < 0) return null;
  const before = passes.slice(0, pass).reduce((sum, p) => sum + p.matches, 0);
  const within = firstFrom(firings.value.get(at.rule) ?? [], step.value);
  const matches = passes.reduce((sum, p) => sum + p.matches, 0);
  return { match: before + within + 1, matches, pass: pass + 1, passes: passes.length };
});
