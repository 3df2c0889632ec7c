/** Draws a tile on canvas: all of it small, and a part with numbers. Colours from the style sheet. */
import { prepare } from "../../../ui/canvas";
import type { Face } from "./faces";
import type { Part } from "./part";

/** In an order in which neighbours differ; numbers repeat them in weaker and stronger tints. */
const HUES = [
  "--accent",
  "--o-view",
  "--o-red",
  "--o-mem",
  "--o-range",
  "--o-dev",
  "--add",
  "--o-const",
] as const;
const TINTS = [0.18, 0.3, 0.42, 0.1] as const;
const FAR = [0.3, 0.45, 0.6, 0.16] as const;
/** Beside what is lit, the rest of the whole tile steps back. */
const BEHIND = 0.4;
/** What has no number, in the whole tile. */
const UNNUMBERED = 0.5;

export interface Palette {
  hues: readonly string[];
  surface: string;
  line: string;
  line2: string;
  text: string;
  text2: string;
  accent: string;
  onAccent: string;
  conflict: string;
  mono: string;
}

export function readPalette(el: Element): Palette {
  const css = getComputedStyle(el);
  const read = (name: string): string => css.getPropertyValue(name).trim();
  return {
    hues: HUES.map(read),
    surface: read("--surface"),
    line: read("--line"),
    line2: read("--line2"),
    text: read("--text"),
    text2: read("--text2"),
    accent: read("--accent"),
    onAccent: read("--on-accent"),
    conflict: read("--del"),
    mono: read("--mono"),
  };
}

export interface Marks {
  face: Face;
  /** The group that is lit; null: none. */
  lit: number | null;
  cursor: readonly [row: number, column: number];
  focused: boolean;
}

/** The whole tile; the part that the other picture shows is framed. */
export function drawAll(
  canvas: HTMLCanvasElement,
  p: Palette,
  marks: Marks,
  cell: readonly [width: number, height: number],
  part: Part,
): void {
  const { face } = marks;
  const [w, h] = cell;
  const g = prepare(canvas, face.columns * w, face.rows * h);
  if (!g) return;
  for (let row = 0; row < face.rows; row++)
    for (let column = 0; column < face.columns; column++) {
      const chosen = marks.lit !== null && face.group(row, column) === marks.lit;
      const number = face.number(row, column);
      fill(g, p, chosen ? null : number, FAR);
      if (number < 0) {
        g.fillStyle = p.line;
        g.globalAlpha = UNNUMBERED;
      }
      if (marks.lit !== null) g.globalAlpha *= BEHIND;
      if (chosen || face.marked(row, column)) {
        g.globalAlpha = 1;
        g.fillStyle = chosen ? p.accent : face.conflicts ? p.conflict : p.text;
      }
      g.fillRect(column * w, row * h, w, h);
    }
  g.globalAlpha = 1;
  g.strokeStyle = p.surface;
  g.lineWidth = 1;
  blocks(g, face, 0, 0, face.rows, face.columns, w, h);
  g.strokeStyle = p.text;
  g.lineWidth = 2;
  g.strokeRect(
    part.column * w + 1,
    part.row * h + 1,
    Math.max(2, part.columns * w - 2),
    Math.max(2, part.rows * h - 2),
  );
}

/** Width of the row numbers and height of the column numbers. */
export const GUTTER = 24;
export const HEAD = 16;

/** A part of a tile, with numbers. */
export function drawPart(
  canvas: HTMLCanvasElement,
  p: Palette,
  marks: Marks,
  cell: number,
  part: Part,
): void {
  const { face } = marks;
  const g = prepare(canvas, GUTTER + part.columns * cell + 1, HEAD + part.rows * cell + 1);
  if (!g) return;
  g.font = `${cell >= 18 ? 10 : 9}px ${p.mono}`;
  g.textBaseline = "middle";
  g.fillStyle = p.text2;
  g.textAlign = "center";
  for (let i = 0; i < part.columns; i++)
    g.fillText(`${part.column + i}`, GUTTER + (i + 0.5) * cell, HEAD / 2);
  g.textAlign = "right";
  for (let i = 0; i < part.rows; i++)
    g.fillText(`${part.row + i}`, GUTTER - 5, HEAD + (i + 0.5) * cell);
  g.textAlign = "center";
  g.save();
  g.translate(GUTTER, HEAD);
  for (let i = 0; i < part.rows; i++)
    for (let j = 0; j < part.columns; j++)
      drawCell(g, p, marks, part.row + i, part.column + j, i, j, cell);
  g.strokeStyle = p.line2;
  g.lineWidth = 1;
  blocks(g, face, part.row, part.column, part.rows, part.columns, cell, cell);
  g.strokeRect(0.5, 0.5, part.columns * cell, part.rows * cell);
  const [row, column] = marks.cursor;
  g.strokeStyle = marks.focused ? p.accent : p.text;
  g.lineWidth = 2;
  g.strokeRect((column - part.column) * cell + 1, (row - part.row) * cell + 1, cell - 1, cell - 1);
  g.restore();
}

function drawCell(
  g: CanvasRenderingContext2D,
  p: Palette,
  { face, lit }: Marks,
  row: number,
  column: number,
  i: number,
  j: number,
  cell: number,
): void {
  const number = face.number(row, column);
  const chosen = lit !== null && face.group(row, column) === lit;
  fill(g, p, chosen ? null : number, TINTS);
  if (chosen) {
    g.globalAlpha = 1;
    g.fillStyle = p.accent;
  }
  g.fillRect(j * cell, i * cell, cell, cell);
  g.globalAlpha = 1;
  if (face.marked(row, column)) {
    g.strokeStyle = chosen ? p.onAccent : face.conflicts ? p.conflict : p.text;
    g.lineWidth = 1;
    g.strokeRect(j * cell + 1.5, i * cell + 1.5, cell - 2, cell - 2);
  }
  if (number < 0) return;
  g.fillStyle = chosen ? p.onAccent : p.text;
  g.fillText(`${number}`, (j + 0.5) * cell, (i + 0.5) * cell + 0.5);
}

/** The colour of a number. */
function fill(
  g: CanvasRenderingContext2D,
  p: Palette,
  number: number | null,
  tints: readonly number[],
): void {
  if (number === null || number < 0) {
    g.globalAlpha = 0;
    return;
  }
  g.fillStyle = p.hues[number % p.hues.length]!;
  g.globalAlpha = tints[Math.floor(number / p.hues.length) % tints.length]!;
}

/** The lines between blocks, in a part of the tile. */
function blocks(
  g: CanvasRenderingContext2D,
  face: Face,
  top: number,
  left: number,
  rows: number,
  columns: number,
  w: number,
  h: number,
): void {
  const [down, across] = face.block;
  g.beginPath();
  if (across * w >= 3)
    for (let c = Math.ceil(left / across) * across; c <= left + columns; c += across) {
      g.moveTo((c - left) * w + 0.5, 0);
      g.lineTo((c - left) * w + 0.5, rows * h);
    }
  if (down * h >= 3)
    for (let r = Math.ceil(top / down) * down; r <= top + rows; r += down) {
      g.moveTo(0, (r - top) * h + 0.5);
      g.lineTo(columns * w, (r - top) * h + 0.5);
    }
  g.stroke();
}
