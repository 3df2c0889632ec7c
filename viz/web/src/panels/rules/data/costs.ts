/** Lines of the rules view: per rule, or per pass and rule. Pure. */
import { plural } from "../../../state/format";
import type { Rule, RuleTotals } from "../../../data/messages/rule";
import type { Column } from "../../../ui/SortHead";

export interface Cost {
  key: string;
  /** Rule id and name. */
  id: number;
  rule: string;
  /** The pass, or how many there are; those in which it did something, or else was tried. */
  pass: string;
  passes: string[];
  place: string;
  /** null: the trace does not say it. */
  tries: number | null;
  matches: number;
  declines: number;
  /** Time in its matches; null where there was none. */
  us: number | null;
  /** Time of all its tries; null: the trace does not say it. */
  tryUs: number | null;
  /** The time that ranks it: of all tries, or else of matches (`RuleTotal.cost`); null for none. */
  rankedUs: number | null;
  added: number;
  removed: number;
}

/** The line of the time outside matches. */
export const REST = -1;
export const REST_NAME = "Outside matches";
export const REST_TITLE =
  "Time of the passes outside the functions of matching rules: graph traversal, pattern matching, declined functions, and recording";

/** Which lines: per pass or of all passes together; of one pass; only rules that never matched. */
export interface Choice {
  perPass: boolean;
  pass: string | null;
  never: boolean;
  query: string;
}

export function listRules(
  totals: RuleTotals,
  rules: ReadonlyMap<number, Rule>,
  choice: Choice,
): Cost[] {
  const made = new Map<string, Cost>();
  const wanted = (pass: string): boolean => choice.pass === null || pass === choice.pass;
  const keyOf = (id: number, pass: string): string => (choice.perPass ? `${id}.${pass}` : `${id}`);
  for (const t of totals.rows) {
    if (!wanted(t.pass)) continue;
    const cost = enter(made, keyOf(t.id, t.pass), t.id, t.rule, t.pass, rules);
    cost.tries = cost.tries === null || t.tries == null ? null : cost.tries + t.tries;
    cost.matches += t.matches;
    cost.declines += t.declines;
    if (t.matches) cost.us = (cost.us ?? 0) + t.us;
    if (t.tryUs != null) cost.tryUs = (cost.tryUs ?? 0) + t.tryUs;
    cost.rankedUs = (cost.rankedUs ?? 0) + (t.cost ?? t.tryUs ?? t.us);
    cost.added += t.added;
    cost.removed += t.removed;
  }
  const heard = new Set(made.keys());
  for (const { pass, id, tries, us } of totals.silent ?? []) {
    if (!wanted(pass)) continue;
    for (const [i, rule] of id.entries()) {
      const key = keyOf(rule, pass);
      const known = heard.has(key) ? made.get(key)! : null;
      const took = us?.[i] ?? null;
      if (!known && !choice.never && !took) continue;
      const name = rules.get(rule)?.name ?? "unknown";
      const cost = known ?? enter(made, key, rule, name, pass, rules);
      if (cost.tries !== null) cost.tries += tries[i] ?? 0;
      if (took === null) continue;
      cost.tryUs = (cost.tryUs ?? 0) + took;
      cost.rankedUs = (cost.rankedUs ?? 0) + took;
    }
  }
  if (!choice.never && !choice.query) rest(made, totals, choice);
  const words = choice.query.toLowerCase().split(/\s+/).filter(Boolean);
  return [...made.values()].filter((c) => {
    if (choice.never && (c.matches > 0 || c.tries === null)) return false;
    const text = `${c.rule} ${c.place} ${c.passes.join(" ")}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
}

/** The lines of the time outside matches: of the run, or of the passes of each name. */
function rest(made: Map<string, Cost>, totals: RuleTotals, choice: Choice): void {
  const { us, passes } = totals.untimed ?? { us: 0, passes: [] };
  const wanted = passes.filter((p) => choice.pass === null || p.pass === choice.pass);
  const lines =
    choice.perPass || choice.pass !== null
      ? wanted
      : passes.length
        ? [{ pass: plural(passes.length, "pass", "passes"), us }]
        : [];
  for (const line of lines) {
    const cost = enter(made, `rest.${line.pass}`, REST, REST_NAME, line.pass, new Map());
    Object.assign(cost, { us: line.us, tries: null, pass: line.pass });
  }
}

/** The line of a rule, made where it is not there; it gets one more pass. */
function enter(
  made: Map<string, Cost>,
  key: string,
  id: number,
  name: string,
  pass: string,
  rules: ReadonlyMap<number, Rule>,
): Cost {
  let cost = made.get(key);
  if (!cost) {
    const rule = rules.get(id);
    const place = rule ? `${rule.file}:${rule.line}` : "";
    const nothing = { tries: 0, matches: 0, declines: 0, added: 0, removed: 0, us: null };
    cost = { key, id, rule: name, pass, passes: [], place, ...nothing, tryUs: null, rankedUs: null };
    made.set(key, cost);
  }
  cost.passes.push(pass);
  cost.pass = cost.passes.length > 1 ? `${cost.passes.length} passes` : pass;
  return cost;
}

/** The names of all passes, in order. */
export function passesOf(totals: RuleTotals): string[] {
  const names = [...totals.rows, ...(totals.silent ?? [])].map((t) => t.pass);
  return [...new Set(names)].sort((a, z) => a.localeCompare(z, "en"));
}

/** Whether the trace says of any rule how often it was tried. */
export const knowsTries = (totals: RuleTotals): boolean =>
  (totals.silent ?? []).length > 0 || totals.rows.some((t) => t.tries != null);

/** Matches per try, 0 to 1; null where that is not known or there was no try. */
export const shareOf = (c: Cost): number | null => (c.tries ? c.matches / c.tries : null);

/** Why a rule replaced nothing, as far as counts tell. */
export function whyNever(c: Pick<Cost, "matches" | "tries" | "declines">): string {
  if (c.matches || c.tries === null) return "";
  if (!c.tries) return "It was never tried: no node had a matching root op.";
  if (!c.declines)
    return `It was tried on ${plural(c.tries, "node")}, and its pattern matched none of them.`;
  return `It was tried on ${plural(c.tries, "node")}. Its pattern matched ${plural(c.declines, "time")}, and its function declined each of them.`;
}

/** What the time of tries is. */
export const TRY_TITLE =
  "Total time of its tries, whether they matched or not: running its pattern and its function, with the passes that the function runs";

const COLUMNS: readonly Column<Cost>[] = [
  { key: "rule", name: "Rule", value: (c) => c.rule },
  { key: "where", name: "Where", value: (c) => c.place },
  { key: "pass", name: "Pass", value: (c) => c.pass },
  {
    key: "tries",
    name: "Tried",
    value: (c) => c.tries ?? -1,
    right: true,
    title:
      "Nodes that the rule was tried on: their op can be the root of its pattern, and no earlier rule replaced them",
  },
  { key: "matches", name: "Matched", value: (c) => c.matches, right: true },
  {
    key: "share",
    name: "%",
    value: (c) => shareOf(c) ?? -1,
    right: true,
    title: "Matches per try",
  },
  {
    key: "declines",
    name: "Declined",
    value: (c) => c.declines,
    right: true,
    title:
      "Times that its pattern matched and its function declined; a node counts once for each way in which it matches",
  },
  { key: "added", name: "Nodes +", value: (c) => c.added, right: true },
  { key: "removed", name: "Nodes −", value: (c) => c.removed, right: true },
  {
    key: "mean",
    name: "Mean",
    value: (c) => meanOf(c),
    right: true,
    title: "Mean time of its function per match",
  },
  {
    key: "us",
    name: "In matches",
    value: (c) => c.us ?? -1,
    right: true,
    title: "Total time of its function over all matches",
  },
  {
    key: "tryUs",
    name: "In tries",
    value: (c) => c.rankedUs ?? -1,
    right: true,
    title: TRY_TITLE,
  },
];

/** The costliest rules first: by the time of their tries, where the trace says it of any. */
export const costliestFirst = (costs: readonly Cost[]): string =>
  costs.some((c) => c.tryUs !== null) ? "-tryUs" : "-us";

/** Time of one match, microseconds. */
export const meanOf = (c: Cost): number => (c.matches && c.us !== null ? c.us / c.matches : 0);

export function columnsFor(perPass: boolean): readonly Column<Cost>[] {
  return COLUMNS.map((c) => (c.key === "pass" && !perPass ? { ...c, name: "Passes" } : c));
}
