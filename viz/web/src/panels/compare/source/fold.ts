/** Lines of two texts as they are shown: what differs with a few lines around it, the rest folded. Pure. */
import type { LineState, SourceDifference } from "../../../data/messages/compare";

export interface LineRow {
  a: number;
  b: number;
  state: LineState;
}

/** Lines, or so many folded ones; `at` is the first row of them. */
export type Shown = { row: LineRow } | { folded: number; renamed: number; at: number };

/** Lines of context around what differs. */
const CONTEXT = 3;

/** A register that only has another name is no difference to look at. */
const isQuiet = (state: LineState): boolean => state === "same" || state === "renamed";

/** `opened`: first rows of folded stretches that the reader opened. */
export function shownRows(rows: readonly LineRow[], opened: ReadonlySet<number>): Shown[] {
  const keep = new Uint8Array(rows.length);
  rows.forEach((row, i) => {
    if (!isQuiet(row.state)) keep.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  const shown: Shown[] = [];
  for (let i = 0; i < rows.length;) {
    if (keep[i]) {
      shown.push({ row: rows[i++]! });
      continue;
    }
    const at = i;
    while (i < rows.length && !keep[i]) i++;
    const hidden = rows.slice(at, i);
    if (opened.has(at) || hidden.length === 1) shown.push(...hidden.map((row) => ({ row })));
    else {
      const renamed = hidden.filter((row) => row.state === "renamed").length;
      shown.push({ folded: hidden.length, renamed, at });
    }
  }
  return shown;
}

/** In one column: a changed line is the old one and then the new one, of a stretch all old ones first. */
export function unified(shown: readonly Shown[]): Shown[] {
  const out: Shown[] = [];
  let added: Shown[] = [];
  const flush = (): void => {
    out.push(...added);
    added = [];
  };
  for (const one of shown) {
    if (!("row" in one) || isQuiet(one.row.state)) {
      flush();
      out.push(one);
      continue;
    }
    const { a, b, state } = one.row;
    if (a) out.push({ row: { a, b: 0, state: state === "changed" ? "removed" : state } });
    if (b) added.push({ row: { a: 0, b, state: state === "changed" ? "added" : state } });
  }
  flush();
  return out;
}

/** How many lines of each kind there are. */
export function tally({ rows }: Pick<SourceDifference, "rows">): Record<LineState, number> {
  const counts = { same: 0, renamed: 0, moved: 0, changed: 0, removed: 0, added: 0 };
  for (const row of rows) counts[row.state]++;
  return counts;
}
