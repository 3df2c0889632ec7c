/**
 * The navigator as a flat list of lines: contexts and passes, with the rewrites that their rules
 * made, what is folded, and the steps of the open pass. Pure; nothing is left out without a line that says how many.
 */
import { firstFrom } from "../../model/filter";
import type { Row } from "../../data/messages/run";

/** Steps shown at once below the open pass; a page stays put while the reader steps in it. */
const STEP_PAGE = 8;

export type Line =
  | { kind: "row"; key: string; row: number; depth: number; open: boolean | null }
  | { kind: "unchanged"; key: string; parent: number; depth: number; count: number; open: boolean }
  | { kind: "step"; key: string; step: number; depth: number }
  | { kind: "none"; key: string; depth: number }
  | { kind: "gap"; key: string; depth: number; count: number; first: number }
  | { kind: "more"; key: string; depth: number; count: number; to: number; earlier: boolean };

export interface FoldInput {
  rows: readonly Row[];
  /** Rows below a row, in order; -1 gives the roots. */
  children: (parent: number) => readonly number[];
  /** Keys of what the reader opened. */
  open: ReadonlySet<string>;
  changedOnly: boolean;
  current: number | null;
  /** Steps that pass the filters (1-based, ascending), and the one looked at. */
  steps: readonly number[];
  step: number;
  /** Filters are on: runs of steps between two passing ones fold to a line. */
  filtered: boolean;
}

export const rowKey = (row: number): string => `r${row}`;
const unchangedKey = (parent: number): string => `u${parent}`;
export const stepKey = (step: number): string => `s${step}`;

/** All lines, top to bottom. Rows may be nested as deep as a trace says: nothing here recurses. */
export function foldTree(input: FoldInput): Line[] {
  const { rows, children, open } = input;
  const lines: Line[] = [];
  /** What is still to come, the next one last: rows with their depths, and finished lines. */
  const waiting: ([at: number, depth: number] | Line)[] = [];

  const add = (at: number, depth: number): void => {
    const row = rows[at];
    if (!row) return;
    const key = rowKey(at);
    const isCurrent = row.kind === "rewrite" && row.id === input.current;
    const foldable = children(at).length > 0 || (isCurrent && row.steps > 0);
    const isOpen = foldable && open.has(key);
    lines.push({ kind: "row", key, row: at, depth, open: foldable ? isOpen : null });
    if (!isOpen) return;
    if (isCurrent) lines.push(...stepLines(input, depth + 1));
    addChildren(at, depth + 1);
  };
  /** Nothing changed in it, nor in what its rules rewrote, and it is not what is looked at. */
  const still = (top: number): boolean => {
    const below = [top];
    for (let at = below.pop(); at !== undefined; at = below.pop()) {
      const row = rows[at]!;
      if (!isUnchanged(row) || row.id === input.current) return false;
      for (const child of children(at)) below.push(child);
    }
    return true;
  };

  const addChildren = (parent: number, depth: number): void => {
    const folded: number[] = [];
    const next: typeof waiting = [];
    for (const child of children(parent)) {
      if (input.changedOnly && still(child)) folded.push(child);
      else next.push([child, depth]);
    }
    if (folded.length) {
      const key = unchangedKey(parent);
      const isOpen = open.has(key);
      next.push({ kind: "unchanged", key, parent, depth, count: folded.length, open: isOpen });
      if (isOpen) for (const child of folded) next.push([child, depth + 1]);
    }
    for (const one of next.reverse()) waiting.push(one);
  };

  addChildren(-1, 0);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    if ("kind" in next) lines.push(next);
    else add(...next);
  return lines;
}

/** A finished pass without a match. */
function isUnchanged(row: Row): boolean {
  return row.kind === "rewrite" && row.steps === 0 && row.status === "ok";
}

/** The page of steps that holds the current one, with what lies before and after it. */
export function stepLines(input: FoldInput, depth: number): Line[] {
  const { steps, step, filtered } = input;
  if (!steps.length) return filtered ? [{ kind: "none", key: "none", depth }] : [];
  const at = Math.min(firstFrom(steps, step), steps.length - 1);
  const from = Math.floor(at / STEP_PAGE) * STEP_PAGE;
  const to = Math.min(from + STEP_PAGE, steps.length);
  const lines: Line[] = [];
  if (from > 0)
    lines.push({
      kind: "more",
      key: "m-",
      depth,
      count: from,
      to: steps[from - 1]!,
      earlier: true,
    });
  for (let i = from; i < to; i++) {
    const k = steps[i]!;
    const before = i > 0 ? steps[i - 1]! : 0;
    if (filtered && k - before > 1)
      lines.push({ kind: "gap", key: `g${k}`, depth, count: k - before - 1, first: before + 1 });
    lines.push({ kind: "step", key: stepKey(k), step: k, depth });
  }
  if (to < steps.length)
    lines.push({
      kind: "more",
      key: "m+",
      depth,
      count: steps.length - to,
      to: steps[to]!,
      earlier: false,
    });
  return lines;
}
