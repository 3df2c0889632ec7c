/** Search over what the page already holds: names of rows, rules and files. Never fetches. */
import type { Row, Rule, SearchResult } from "./types";

const LIMIT = 200;

/** Case-insensitive; all words of the query must occur. Hits are in trace order. */
export function searchLocally(query: string, rows: Row[], rules: Rule[]): SearchResult {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return { hits: [], total: 0, truncated: null };
  const matches = (text: string): boolean => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
  const hits: SearchResult["hits"] = [];
  for (const row of rows) {
    if (matches(row.name)) hits.push({ row: row.row, kind: row.label, text: row.name });
    else if (matches(row.calls))
      hits.push({ row: row.row, kind: "call", text: `${row.name}: ${row.calls}` });
    else if (matches(row.caller)) hits.push({ row: row.row, kind: "file", text: row.caller });
  }
  for (const rule of rules)
    if (matches(`${rule.name} ${rule.file}:${rule.line}`))
      hits.push({ row: -1, kind: "rule", text: rule.name });
  return { hits: hits.slice(0, LIMIT), total: hits.length, truncated: null };
}
