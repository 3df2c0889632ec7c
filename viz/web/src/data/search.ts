/** Search over what the page already holds: names of rows, rules and files. Never fetches. */
import type { Rule } from "./messages/rule";
import type { Row } from "./messages/run";
import type { SearchHit, SearchResult } from "./messages/search";

/** The groups in the order of the server (viz/views/find.py), and how many hits of each are shown. */
const KINDS = ["kernel", "call", "rule", "pass", "group", "file"] as const;
const PER_KIND = 50;

/** Case-insensitive; all words of the query must occur. Hits are in trace order. */
export function searchLocally(query: string, rows: Row[], rules: Rule[]): SearchResult {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return { hits: [], totals: {}, total: 0, truncated: null, problem: null };
  const matches = (text: string): boolean => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
  const groups = new Map<SearchHit["kind"], SearchHit[]>(KINDS.map((kind) => [kind, []]));
  const add = (row: number, kind: SearchHit["kind"], text: string): void =>
    void groups.get(kind)!.push({ row, kind, text, step: null, node: null, source: null });
  for (const row of rows) {
    const name = row.kind === "rewrite" ? "pass" : row.label === "kernel" ? "kernel" : "group";
    if (matches(row.name)) add(row.row, name, row.name);
    else if (matches(row.calls)) add(row.row, "call", `${row.name}: ${row.calls}`);
    else if (matches(row.caller)) add(row.row, "file", row.caller);
  }
  for (const rule of rules)
    if (matches(`${rule.name} ${rule.file}:${rule.line}`)) add(-1, "rule", rule.name);
  const found = [...groups].filter(([, hits]) => hits.length);
  return {
    hits: found.flatMap(([, hits]) => hits.slice(0, PER_KIND)),
    totals: Object.fromEntries(found.map(([kind, hits]) => [kind, hits.length])),
    total: found.reduce((sum, [, hits]) => sum + hits.length, 0),
    truncated: null,
    problem: null,
  };
}
