/** The navigator's rows as they arrive: appended, and older ones replaced. Pure. */
import type { Row } from "./messages/run";

/** `known` with `update` applied; the same array if nothing changed. */
export function mergeRows(known: readonly Row[], update: readonly Row[]): readonly Row[] {
  let merged: Row[] | null = null;
  for (const row of update) {
    const old = (merged ?? known)[row.row];
    if (old && sameRow(old, row)) continue;
    merged ??= [...known];
    merged[row.row] = row;
  }
  return merged ?? known;
}

function sameRow(a: Row, b: Row): boolean {
  return (
    a.steps === b.steps &&
    a.status === b.status &&
    a.ms === b.ms &&
    a.nodes === b.nodes &&
    a.text === b.text &&
    a.declines === b.declines &&
    a.name === b.name &&
    a.id === b.id &&
    a.parent === b.parent
  );
}

/** What the compiler calls what a row stands for: "kernel", "pipeline". */
export const kindOfRow = (row: Row): string => row.what || row.label;

/** Children of every row, in order; parent -1 gives the roots. */
export function childrenOf(rows: readonly Row[]): (parent: number) => readonly number[] {
  const lists = new Map<number, number[]>();
  for (const row of rows) {
    const list = lists.get(row.parent);
    if (list) list.push(row.row);
    else lists.set(row.parent, [row.row]);
  }
  return (parent) => lists.get(parent) ?? [];
}

/** Steps of the passes that ran inside each row's pass, however deep. */
export function stepsInside(rows: readonly Row[]): readonly number[] {
  const inside = new Array<number>(rows.length).fill(0);
  for (let at = rows.length - 1; at >= 0; at--) {
    const { parent, kind, steps } = rows[at]!;
    // A parent comes before its children, except in a bad trace.
    if (kind === "rewrite" && parent >= 0 && parent < at) inside[parent]! += steps + inside[at]!;
  }
  return inside;
}

/** For each row, that of the kernel compiled on request that it belongs to; -1 for none. */
export function compiledRows(rows: readonly Row[]): readonly number[] {
  const found: number[] = [];
  for (const { row, parent, target } of rows) found.push(target ? row : (found[parent] ?? -1));
  return found;
}

/** Rows from `row` up to its root, `row` first. Stops at a cycle, which only a bad trace has. */
export function ancestry(rows: readonly Row[], row: number): Row[] {
  const path: Row[] = [];
  const seen = new Set<number>();
  for (let at = rows[row]; at && !seen.has(at.row); at = rows[at.parent]) {
    seen.add(at.row);
    path.push(at);
  }
  return path;
}

/**
 * For each row the subject that it belongs to, as the row of a context; -1 for none. A subject is a
 * kernel of the program with all that is below it, and outside of kernels any context that passes
 * stand in: a schedule, a rewrite that the program asked for, a unit of another compiler.
 */
export function subjectRows(rows: readonly Row[]): readonly number[] {
  const hasPass = new Set(rows.filter((r) => r.kind === "rewrite").map((r) => r.parent));
  const found: number[] = [];
  for (const { row, parent, kind, label, target } of rows) {
    const above = found[parent] ?? -1;
    const inKernel = above >= 0 && rows[above]!.label === "kernel";
    const isSubject = kind === "context" && !target && (label === "kernel" || hasPass.has(row));
    found.push(isSubject && !inKernel ? row : above);
  }
  return found;
}
