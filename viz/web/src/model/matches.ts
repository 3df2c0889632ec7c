/**
 * Where a rule matched in the whole run: passes in the order of the run, and the place of a match
 * among all. Pure.
 */
import type { RuleMatches } from "../data/messages/rule";

/** A pass in which a rule matched, and how often. */
export interface PassMatches {
  rewrite: number;
  matches: number;
}

/** Which match of a rule it is of all in the run, and in which pass of those that have any. */
export interface MatchPlace {
  match: number;
  matches: number;
  pass: number;
  passes: number;
}

/** By rule the passes in which it matched, ordered by their rows. */
export function passesByRule(
  all: RuleMatches | null,
  rowOf: (rewrite: number) => number | undefined,
): ReadonlyMap<number, readonly PassMatches[]> {
  const found = new Map<number, PassMatches[]>();
  all?.rule.forEach((rule, i) => {
    const passes = found.get(rule) ?? [];
    passes.push({ rewrite: all.rewrite[i]!, matches: all.matches[i]! });
    found.set(rule, passes);
  });
  const order = (p: PassMatches): number => rowOf(p.rewrite) ?? Infinity;
  for (const passes of found.values()) passes.sort((a, b) => order(a) - order(b));
  return found;
}

/** The place of the match that has `within` others before it in its pass; null if it is unknown. */
export function placeAmong(
  passes: readonly PassMatches[],
  rewrite: number,
  within: number,
): MatchPlace | null {
  const pass = passes.findIndex((p) => p.rewrite === rewrite);
  if (pass < 0) return null;
  const sum = (some: readonly PassMatches[]): number =>
    some.reduce((all, p) => all + p.matches, 0);
  return {
    match: sum(passes.slice(0, pass)) + within + 1,
    matches: sum(passes),
    pass: pass + 1,
    passes: passes.length,
  };
}
