/** Where a rule matched, and in which pass of a name to look for near misses. Pure. */
import { ancestry } from "../../../data/rows";
import type { RulePage } from "../../../data/messages/rule";
import type { Row } from "../../../data/messages/run";

/** A pass in which the rule matched. */
export interface MatchedPass {
  row: Row;
  /** The kernel or schedule around it; "" for none. */
  where: string;
  matches: number;
  /** Time of its tries in this pass alone; null: less than is kept, or not known. */
  us: number | null;
}

/** In the order of the run; passes that the page does not know of are left out. */
export function matchedPasses(page: RulePage, rows: readonly Row[]): MatchedPass[] {
  const byId = new Map(rows.filter((r) => r.kind === "rewrite").map((r) => [r.id, r]));
  const times = new Map(page.times?.rewrite.map((rewrite, i) => [rewrite, page.times!.us[i]!]));
  const found = page.rewrite.flatMap((rewrite, i) =>
    lineOf(byId.get(rewrite), rows, page.matches[i] ?? 0, times.get(rewrite) ?? null),
  );
  return found.sort((a, z) => a.row.row - z.row.row);
}

/** The passes in which its tries took most time, the longest first. */
export function timedPasses(page: RulePage, rows: readonly Row[]): MatchedPass[] {
  const byId = new Map(rows.filter((r) => r.kind === "rewrite").map((r) => [r.id, r]));
  const matches = new Map(page.rewrite.map((rewrite, i) => [rewrite, page.matches[i] ?? 0]));
  return (page.times?.rewrite ?? []).flatMap((rewrite, i) =>
    lineOf(byId.get(rewrite), rows, matches.get(rewrite) ?? 0, page.times!.us[i] ?? null),
  );
}

function lineOf(
  row: Row | undefined,
  rows: readonly Row[],
  matches: number,
  us: number | null,
): MatchedPass[] {
  if (!row || row.status === "gone") return [];
  return [{ row, where: ancestry(rows, row.row)[1]?.name ?? "", matches, us }];
}

/** Of the passes of one name the one with most nodes: where a rule had most to look at. */
export function largestPass(rows: readonly Row[], name: string): Row | undefined {
  let largest: Row | undefined;
  for (const row of rows)
    if (row.kind === "rewrite" && row.name === name && row.status !== "gone" && !row.target)
      if (!largest || row.nodes > largest.nodes) largest = row;
  return largest;
}

/** How often in all passes: "tried" is null where one of them does not say it. */
export function sumsOf(page: RulePage): {
  tries: number | null;
  matches: number;
  declines: number;
  us: number;
  tryUs: number | null;
} {
  const none = 0 as number | null;
  const sums = { tries: none, matches: 0, declines: 0, us: 0, tryUs: none };
  for (const one of page.passes) {
    sums.tries = sums.tries === null || one.tries === null ? null : sums.tries + one.tries;
    sums.matches += one.matches;
    sums.declines += one.declines;
    sums.us += one.us;
    sums.tryUs = sums.tryUs === null || one.tryUs === null ? null : sums.tryUs + one.tryUs;
  }
  return sums;
}
