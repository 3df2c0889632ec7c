/**
 * The navigator as a flat list of lines: the passes of what is looked at, with the rewrites that their
 * rules made, what is folded, and the steps of the open pass; what it was compiled for besides. Pure;
 * nothing is left out without a line that says how many.
 */
import { firstFrom } from "../../model/filter";
import type { Row } from "../../data/messages/run";

/** Steps shown at once below the open pass; a page stays put while the reader steps in it. */
const STEP_PAGE = 8;

export type Line =
  | { kind: "head"; key: string; depth: number; text: string }
  | { kind: "targets"; key: string; depth: number; count: number; open: boolean }
  | { kind: "target"; key: string; depth: number; target: string; state: string }
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
  /** The row whose children are listed; -1: the roots. */
  root: number;
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

  addChildren(input.root, 0);
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

/** Key of the line that unfolds the targets that the kernel was not compiled for. */
export const OTHERS = "others";

/** Those that are being compiled, and behind one line the others. */
function targetLines(others: readonly Other[], open: boolean): Line[] {
  const line = ({ target, state }: Other): Line => {
    return { kind: "target", key: `t${target}`, depth: 0, target, state };
  };
  const idle = others.filter(({ state }) => state === "compile");
  return [
    ...others.filter(({ state }) => state !== "compile").map(line),
    ...(idle.length
      ? [{ kind: "targets", key: OTHERS, depth: 0, count: idle.length, open } as const]
      : []),
    ...(open ? idle.map(line) : []),
  ];
}

/** A target that the kernel could be compiled for, and what has come of it: "compile", "compiling". */
export interface Other {
  target: string;
  state: string;
}

/**
 * The lines of one kernel: what the program ran, then what it was compiled for on request, and what it
 * could be compiled for. Of anything else its passes alone, under its name.
 */
export function subjectLines(
  input: FoldInput,
  ran: string,
  others: readonly Other[],
): Line[] {
  const { rows, root } = input;
  const below = input.children(root);
  const group = (wanted: (row: Row) => boolean): Line[] =>
    foldTree({
      ...input,
      children: (at) =>
        at === root ? below.filter((child) => wanted(rows[child]!)) : input.children(at),
    });
  const own = group((row) => !row.target);
  const compiled = group((row) => row.target !== undefined && row.target !== "");
  return [
    { kind: "head", key: "h-own", depth: 0, text: ran },
    ...own,
    ...(compiled.length || others.length
      ? [{ kind: "head", key: "h-others", depth: 0, text: "Compiled for others" } as const]
      : []),
    ...compiled,
    ...targetLines(others, input.open.has(OTHERS)),
  ];
}
