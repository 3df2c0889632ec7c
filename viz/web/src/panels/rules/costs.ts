/** Lines of the rules view: per rule, or per pass and rule. Pure. */
import type { Rule, RuleTotals } from "../../data/types";
import type { Column } from "../../ui/SortHead";

export interface Cost {
  key: string;
  /** Rule id and name. */
  id: number;
  rule: string;
  /** The pass, or how many there are. */
  pass: string;
  passes: string[];
  place: string;
  matches: number;
  declines: number;
  us: number;
  added: number;
  removed: number;
}

export function listRules(
  totals: RuleTotals,
  rules: ReadonlyMap<number, Rule>,
  perPass: boolean,
  query: string,
): Cost[] {
  const made = new Map<string, Cost>();
  for (const t of totals.rows) {
    const key = perPass ? `${t.id}.${t.pass}` : String(t.id);
    const known = made.get(key);
    if (known) {
      known.passes.push(t.pass);
      known.pass = `${known.passes.length} passes`;
      known.matches += t.matches;
      known.declines += t.declines;
      known.us += t.us;
      known.added += t.added;
      known.removed += t.removed;
      continue;
    }
    const rule = rules.get(t.id);
    made.set(key, {
      key,
      id: t.id,
      rule: t.rule,
      pass: t.pass,
      passes: [t.pass],
      place: rule ? `${rule.file}:${rule.line}` : "",
      matches: t.matches,
      declines: t.declines,
      us: t.us,
      added: t.added,
      removed: t.removed,
    });
  }
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return [...made.values()].filter((c) => {
    const text = `${c.rule} ${c.place} ${c.passes.join(" ")}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
}

const COLUMNS: readonly Column<Cost>[] = [
  { key: "rule", name: "Rule", value: (c) => c.rule },
  { key: "where", name: "Where", value: (c) => c.place },
  { key: "pass", name: "Pass", value: (c) => c.pass },
  { key: "matches", name: "Matched", value: (c) => c.matches, right: true },
  { key: "declines", name: "Declined", value: (c) => c.declines, right: true },
  { key: "added", name: "Nodes +", value: (c) => c.added, right: true },
  { key: "removed", name: "Nodes −", value: (c) => c.removed, right: true },
  {
    key: "mean",
    name: "Mean",
    value: (c) => meanOf(c),
    right: true,
    title: "Time of one match",
  },
  { key: "us", name: "Time", value: (c) => c.us, right: true, title: "Time in all its matches" },
];

/** Time of one match, microseconds. */
export const meanOf = (c: Cost): number => (c.matches ? c.us / c.matches : 0);

export function columnsFor(perPass: boolean): readonly Column<Cost>[] {
  return COLUMNS.map((c) => (c.key === "pass" && !perPass ? { ...c, name: "Passes" } : c));
}
