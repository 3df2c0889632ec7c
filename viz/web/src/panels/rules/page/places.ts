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
}

/** In the order of the run; passes that the page does not know of are left out. */
export function matchedPasses(page: RulePage, rows: readonly Row[]): MatchedPass[] {
  const byId = new Map(rows.filter((r) => r.kind === "rewrite").map((r) => [r.id, r]));
  const found = page.rewrite.flatMap((rewrite, i) => {
    const row = byId.get(rewrite);
    if (!row || row.status === "gone") return [];
    const where = ancestry(rows, row.row)[1]?.name ?? "";
    return [{ row, where, matches: page.matches[i] ?? 0 }];
  });
  return found.sort((a, z) => a.row.row - z.row.row);
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
} {
  const sums = { tries: 0 as number | null, matches: 0, declines: 0, us: 0 };
  for (const one of page.passes) {
    sums.tries = sums.tries === null || one.tries === null ? null : sums.tries + one.tries;
    sums.matches += one.matches;
    sums.declines += one.declines;
    sums.us += one.us;
  }
  return sums;
}
