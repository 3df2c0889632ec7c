/** A history as it is listed: neighbouring rebuilds of one pass as one line. Pure. */
import type { HistoryRow } from "../../../data/lineage";

export interface FoldedRow {
  row: HistoryRow;
  /** How many rebuilds this line stands for; 0 for other rows. */
  rebuilds: number;
}

const quiet = (row: HistoryRow): boolean => row.kind === "rebuilt" || row.kind === "between";

export function foldHistory(rows: readonly HistoryRow[]): FoldedRow[] {
  const folded: FoldedRow[] = [];
  for (const row of rows) {
    const last = folded.at(-1);
    if (quiet(row) && last?.rebuilds && last.row.rewrite === row.rewrite) {
      last.row = row;
      last.rebuilds += 1;
    } else folded.push({ row, rebuilds: quiet(row) ? 1 : 0 });
  }
  return folded;
}

/** The line that comes after (or before) where the reader stands; undefined at the end of it. */
export function neighbour(
  rows: readonly FoldedRow[],
  here: number,
  direction: 1 | -1,
  rewrite: number,
  step: number,
): FoldedRow | undefined {
  const isHere = ({ row }: FoldedRow): boolean => row.rewrite === rewrite && row.step === step;
  if (direction > 0) return rows.slice(here + 1).find((f) => !isHere(f));
  return rows.slice(0, here + 1).findLast((f) => !isHere(f));
}

/** The line at which the reader stands: the last one that is not later than this step. */
export function standing(
  rows: readonly FoldedRow[],
  rewrite: number,
  step: number,
  order: (rewrite: number) => number,
): number {
  return rows.findLastIndex(
    ({ row }) =>
      (row.rewrite === rewrite && row.step <= step) || order(row.rewrite) < order(rewrite),
  );
}
