/**
 * One text of both runs: the lines of A and B in one column, or those of one side, with what a
 * comparison says of each. A line that both have comes from the nodes of both. Pure.
 */
import type { LineState } from "../../../data/messages/compare";
import type { Artifact } from "../../../data/messages/kernel";
import type { Lit } from "../../../parts/kernel/lines";
import type { Signs } from "../../../parts/source/editor";
import { lineDiff } from "../../../parts/source/lineDiff";
import type { Side } from "./ask";

/** 1-based lines of both texts, 0 for a gap. */
export interface LineRow {
  a: number;
  b: number;
  state: LineState;
}

/** A text of one side; `numbers`: what its lines are called, without them they count from 1. */
export interface SideText {
  artifact: Artifact;
  numbers?: readonly string[];
}

export type SideTexts = Readonly<Record<Side, SideText | null>>;

export interface Merged {
  artifact: Artifact;
  numbers: readonly string[];
  signs: Signs;
  /** What each line is of the two texts. */
  rows: readonly LineRow[];
}

/** A register that only has another name is no difference to look at. */
const isQuiet = (state: LineState): boolean => state === "same" || state === "renamed";

/** In one column: a changed line is the old one and then the new one, of a stretch all old ones first. */
export function unified(rows: readonly LineRow[]): LineRow[] {
  const out: LineRow[] = [];
  let added: LineRow[] = [];
  for (const row of rows) {
    const { a, b, state } = row;
    if (isQuiet(state)) {
      out.push(...added, row);
      added = [];
      continue;
    }
    if (a) out.push({ a, b: 0, state: state === "changed" ? "removed" : state });
    if (b) added.push({ a: 0, b, state: state === "changed" ? "added" : state });
  }
  return [...out, ...added];
}

/** How many lines of each kind there are. */
export function tally(rows: readonly LineRow[]): Record<LineState, number> {
  const counts = { same: 0, renamed: 0, moved: 0, changed: 0, removed: 0, added: 0 };
  for (const row of rows) counts[row.state]++;
  return counts;
}

/** The first lines of the stretches that differ. */
export function differences({ signs }: Pick<Merged, "signs">): number[] {
  const differs = (at: number): boolean => signs[at] === "−" || signs[at] === "+" || signs[at] === "◆";
  return signs.flatMap((_, at) => (differs(at) && !differs(at - 1) ? [at] : []));
}

/** A stretch of both texts that differs: the lines (0-based) with which it begins, of a side that has none
 * of it the line before. */
export type Stretch = Readonly<Record<Side, number>>;

export function stretches(rows: readonly LineRow[]): Stretch[] {
  const found: Stretch[] = [];
  const last = { a: 0, b: 0 };
  rows.forEach((row, at) => {
    if (!isQuiet(row.state) && (at === 0 || isQuiet(rows[at - 1]!.state))) {
      const after = rows.findIndex((one, i) => i > at && isQuiet(one.state));
      const own = rows.slice(at, after < 0 ? rows.length : after);
      const first = (side: Side): number => own.find((one) => one[side])?.[side] ?? last[side];
      found.push({ a: Math.max(0, first("a") - 1), b: Math.max(0, first("b") - 1) });
    }
    last.a = row.a || last.a;
    last.b = row.b || last.b;
  });
  return found;
}

/** Rows of texts of which no comparison is at hand. */
export function rowsOfTexts(a: string, b: string): LineRow[] {
  const states = { same: "same", del: "removed", add: "added" } as const;
  return lineDiff(a, b).map(({ kind, old, now }) => ({ a: old, b: now, state: states[kind] }));
}

/** All lines of the one side that has the text. */
export const rowsOfSide = (side: Side, { text }: Artifact): LineRow[] =>
  linesIn(text).map((_, at) =>
    side === "a"
      ? { a: at + 1, b: 0, state: "removed" }
      : { a: 0, b: at + 1, state: "added" },
  );

const linesIn = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** `only`: the lines of that side, in a column of their own. */
export function merged(
  rows: readonly LineRow[],
  texts: SideTexts,
  name: Pick<Artifact, "kind" | "target">,
  only: Side | null,
): Merged {
  const shown = only ? rows.filter((row) => row[only]) : unified(rows);
  const sides = (["a", "b"] as const).flatMap((side) => {
    const of = texts[side];
    return of ? [{ side, of, lines: linesIn(of.artifact.text) }] : [];
  });
  const text: string[] = [];
  const numbers: string[] = [];
  const signs: Signs[number][] = [];
  const made: Pick<Artifact, "lines" | "origins"> = { lines: [], origins: [] };
  for (const row of shown) {
    const mine = only ?? (row.b ? "b" : "a");
    const own = sides.find(({ side }) => side === mine);
    const at = row[mine] - 1;
    const sign = signOf(row.state, mine);
    text.push(own?.lines[at] ?? "");
    const number = own?.of.numbers ? (own.of.numbers[at] ?? "") : String(at + 1);
    numbers.push(sign ? `${sign} ${number}`.trim() : number);
    signs.push(sign);
    for (const what of ["lines", "origins"] as const)
      made[what].push(
        sides.flatMap(({ side, of }) =>
          (of.artifact[what][row[side] - 1] ?? []).map((id) => idIn(side, id)),
        ),
      );
  }
  const first = (texts.b ?? texts.a)?.artifact;
  return {
    rows: shown,
    numbers,
    signs,
    artifact: {
      ...{ title: "", language: "text", facts: [], error: null, ...first, ...name, ...made },
      text: text.join("\n"),
    },
  };
}

/** Numbers of nodes are those of a run: of two runs each has its own. */
const idIn = (side: Side, id: number): number => 2 * id + (side === "b" ? 1 : 0);

function signOf(state: LineState, side: Side): Signs[number] {
  if (state === "same") return "";
  if (state === "renamed") return "≈";
  if (state === "moved") return "◆";
  return side === "a" ? "−" : "+";
}

/** The lines of a merged text that are these of one side. */
export function linesOfSide(of: Merged, side: Side, { lines, cut }: Lit): Lit {
  const wanted = new Set(lines.map((line) => line + 1));
  return { cut, lines: of.rows.flatMap((row, at) => (wanted.has(row[side]) ? [at] : [])) };
}
