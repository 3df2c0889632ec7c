/** The page of a rule, made of what an exported file has of all rules, as viz/views/rules/rulepage.py makes it of
 * a trace. Null for a number that no rule has. Pure. */
import type { Rule, RuleInPass, RuleMatches, RulePage, RuleTotals } from "../messages/rule";

export function rulePageOf(
  id: number,
  rules: readonly Rule[],
  totals: RuleTotals,
  matches: RuleMatches,
): RulePage | null {
  const rule = rules.find((one) => one.id === id);
  if (!rule) return null;
  const passes: RuleInPass[] = totals.rows
    .filter((row) => row.id === id)
    .map(({ pass, tries, matches: matched, declines, us, tryUs, functionUs }) => ({
      ...{ pass, tries: tries ?? null, matches: matched, declines, us },
      ...{ tryUs: tryUs ?? null, functionUs: functionUs ?? null },
    }));
  for (const silent of totals.silent ?? []) {
    const at = silent.id.indexOf(id);
    if (at < 0) continue;
    const tryUs = silent.us?.[at] ?? null;
    const times = { us: 0, tryUs, functionUs: tryUs === null ? null : 0 };
    passes.push({ pass: silent.pass, tries: silent.tries[at]!, matches: 0, declines: 0, ...times });
  }
  passes.sort(
    (a, z) => z.matches - a.matches || z.declines - a.declines || (z.tries ?? 0) - (a.tries ?? 0),
  );
  const where = matches.rule.flatMap((one, at) => (one === id ? [at] : []));
  return {
    rule,
    passes,
    rewrite: where.map((at) => matches.rewrite[at]!),
    matches: where.map((at) => matches.matches[at]!),
    done: matches.done,
    times: null,
  };
}
