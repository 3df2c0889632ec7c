/** Draws the tracks and the overview on canvas. Reads colours from CSS; knows no state. */
import { SPAN, type Shelf } from "./data/arrange";
import { ticks, timeText, type Stretch } from "./data/scale";
import { above, HUES, pieces, type Hue, type MemoryRow, type SpanRow } from "./data/spans";

export interface Palette {
  hue: Record<Hue, string>;
  text: string;
  text3: string;
  line: string;
  canvas: string;
  accent: string;
  onAccent: string;
  tint: string;
  memory: string;
  failed: string;
  mark: string;
  font: string;
}

const VARIABLES: Record<Exclude<keyof Palette, "hue">, string> = {
  text: "--text",
  text3: "--text3",
  line: "--line",
  canvas: "--canvas",
  accent: "--accent",
  onAccent: "--on-accent",
  tint: "--accentbg",
  memory: "--o-mem",
  failed: "--del",
  mark: "--movt",
  font: "--sans",
};

export function palette(of: HTMLElement): Palette {
  const style = getComputedStyle(of);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  const hue: Record<Hue, string> = {
    schedule: read("--o-view"),
    kernel: read("--o-alu"),
    pass: read("--o-range"),
    group: read("--o-ctl"),
    launch: read("--o-red"),
  };
  const rest = Object.entries(VARIABLES).map(([key, name]) => [key, read(name)]);
  return { hue, ...(Object.fromEntries(rest) as Omit<Palette, "hue">) };
}

export interface Picture {
  shelves: readonly Shelf[];
  names: readonly string[];
  shown: Stretch;
  /** Scrolled by this many pixels. */
  scroll: number;
  marks: readonly number[];
  /** Picked span: its track and place in it; a name that is lit. */
  picked: { track: number; span: Stretch; name: string } | null;
  /** The moment at which a memory is looked at. */
  moment: { track: number; time: number } | null;
  litName: number;
  pointed: number | null;
  failed: ReadonlyMap<number, ReadonlySet<number>>;
}

export const RULER = 24;

export function drawTracks(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  p: Picture,
  c: Palette,
): void {
  const [from, to] = p.shown;
  const x = (t: number): number => ((t - from) / (to - from)) * width;
  const times = ticks(p.shown, width, 110);
  const step = (times[1] ?? to) - (times[0] ?? from);
  g.fillStyle = c.line;
  for (const t of times) g.fillRect(Math.round(x(t)), RULER, 1, height);
  if (p.picked) {
    g.globalAlpha = 0.55;
    g.fillStyle = c.tint;
    const left = Math.max(0, x(p.picked.span[0]));
    g.fillRect(left, RULER, Math.min(width, x(p.picked.span[1])) - left, height);
    g.globalAlpha = 1;
  }
  g.save();
  g.beginPath();
  g.rect(0, RULER, width, height - RULER);
  g.clip();
  for (const shelf of p.shelves) {
    const top = RULER + shelf.top - p.scroll;
    if (top > height || top + shelf.height < RULER) continue;
    for (const { row, top: y } of shelf.rows) {
      const rowTop = RULER + y - p.scroll;
      if (rowTop < height && rowTop + SPAN > RULER)
        drawRow(g, row, rowTop, shelf.kernel >= 0 ? SPAN - 4 : SPAN, width, p, c);
    }
    if (shelf.memory) {
      drawMemory(g, shelf.memory, top + 6, shelf.height - 14, width, p.shown, c);
      if (p.moment?.track === shelf.track) {
        g.fillStyle = c.accent;
        g.fillRect(Math.round(x(p.moment.time)), top, 2, shelf.height - 1);
      }
    }
    g.fillStyle = c.line;
    g.fillRect(0, Math.round(top + shelf.height) - 1, width, 1);
  }
  g.restore();
  g.fillStyle = c.canvas;
  g.fillRect(0, 0, width, RULER);
  g.font = `11px ${c.font}`;
  g.fillStyle = c.text3;
  for (const t of times) g.fillText(timeText(t, step), x(t) + 4, 16);
  g.fillStyle = c.line;
  g.fillRect(0, RULER - 1, width, 1);
  drawMarks(g, width, height, p, c, x, step);
}

/** How full a shared pixel column looks, in few enough steps to join equal neighbours. */
const SHADES = 6;

function drawRow(
  g: CanvasRenderingContext2D,
  row: SpanRow,
  y: number,
  h: number,
  width: number,
  p: Picture,
  c: Palette,
): void {
  const [from, to] = p.shown;
  const failed = p.failed.get(row.track);
  let run = { x0: 0, x1: 0, hue: -1, shade: 0 };
  const flush = (): void => {
    if (run.hue < 0) return;
    g.globalAlpha = 0.15 + (0.75 * run.shade) / SHADES;
    g.fillStyle = c.hue[HUES[run.hue]!];
    g.fillRect(run.x0, y, run.x1 - run.x0, h);
    g.globalAlpha = 1;
    run = { x0: 0, x1: 0, hue: -1, shade: 0 };
  };
  pieces(row, from, to, width, (x0, x1, first, last, share) => {
    const hue = row.hue[first]!;
    const dim = p.litName >= 0 && row.name[first] !== p.litName;
    if (first === last && x1 - x0 >= 2) {
      flush();
      drawSpan(g, row, first, x0, x1, y, h, dim, failed, p, c);
      return;
    }
    const shade = dim ? 0 : Math.max(1, Math.ceil(share * SHADES));
    if (run.hue === hue && run.shade === shade && x0 <= run.x1) run.x1 = x1;
    else {
      flush();
      run = { x0, x1, hue, shade };
    }
  });
  flush();
}

function drawSpan(
  g: CanvasRenderingContext2D,
  row: SpanRow,
  i: number,
  x0: number,
  x1: number,
  y: number,
  h: number,
  dim: boolean,
  failed: ReadonlySet<number> | undefined,
  p: Picture,
  c: Palette,
): void {
  const w = Math.max(1.5, x1 - x0 - (x1 - x0 > 4 ? 1 : 0));
  const name = p.names[row.name[i]!] ?? "?";
  const bad = failed?.has(row.item[i]!) === true;
  const hue = bad ? c.failed : c.hue[HUES[row.hue[i]!]!];
  const chosen =
    p.picked?.track === row.track && p.picked.span[0] === row.start[i] && p.picked.name === name;
  g.fillStyle = chosen ? c.accent : hue;
  g.globalAlpha = chosen ? 1 : dim ? 0.12 : 0.22;
  g.fillRect(x0, y, w, h);
  g.globalAlpha = dim && !chosen ? 0.35 : 1;
  if (!chosen) g.fillRect(x0, y, Math.min(3, w), h);
  if (w > 30) {
    g.font = `${chosen ? 600 : 500} 11px ${c.font}`;
    g.fillStyle = chosen ? c.onAccent : c.text;
    const text = fitted(g, bad ? `! ${name}` : name, w - 14);
    if (text) g.fillText(text, x0 + 8, y + h / 2 + 4);
  }
  g.globalAlpha = 1;
}

const widths = new Map<string, number>();

function fitted(g: CanvasRenderingContext2D, text: string, room: number): string {
  let wide = widths.get(text);
  if (wide === undefined) {
    if (widths.size > 5000) widths.clear();
    widths.set(text, (wide = g.measureText(text.slice(0, 200)).width));
  }
  if (wide <= room && text.length <= 200) return text;
  const keep = Math.floor((room / wide) * Math.min(text.length, 200)) - 1;
  return keep >= 3 ? `${text.slice(0, keep)}…` : "";
}

function drawMemory(
  g: CanvasRenderingContext2D,
  row: MemoryRow,
  top: number,
  height: number,
  width: number,
  [from, to]: Stretch,
  c: Palette,
): void {
  const scale = width / (to - from);
  const y = (bytes: number): number => top + height - (row.peak ? (bytes / row.peak) * height : 0);
  const before = above(row.time, from) - 1;
  let level = before >= 0 ? row.bytes[before]! : 0;
  const line = new Path2D();
  line.moveTo(0, y(level));
  for (let i = before + 1; i < row.time.length && row.time[i]! <= to;) {
    const column = Math.floor((row.time[i]! - from) * scale);
    const next = Math.max(i + 1, above(row.time, from + (column + 1) / scale));
    let most = row.bytes[i]!;
    let least = most;
    for (let k = i; k < next; k++) {
      most = Math.max(most, row.bytes[k]!);
      least = Math.min(least, row.bytes[k]!);
    }
    line.lineTo(column, y(level));
    line.lineTo(column, y(most));
    if (least < most) line.lineTo(column, y(least));
    level = row.bytes[next - 1]!;
    line.lineTo(column, y(level));
    i = next;
  }
  const last = row.time.at(-1) ?? 0;
  line.lineTo(Math.min(width, Math.max(0, (Math.max(last, to) - from) * scale)), y(level));
  g.strokeStyle = c.memory;
  g.lineWidth = 1.2;
  g.stroke(line);
  line.lineTo(width, top + height);
  line.lineTo(0, top + height);
  line.closePath();
  g.globalAlpha = 0.16;
  g.fillStyle = c.memory;
  g.fill(line);
  g.globalAlpha = 1;
}

function drawMarks(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  p: Picture,
  c: Palette,
  x: (t: number) => number,
  step: number,
): void {
  g.font = `600 11px ${c.font}`;
  p.marks.forEach((t, i) => {
    const at = Math.round(x(t));
    if (at < 0 || at > width) return;
    g.fillStyle = c.mark;
    g.fillRect(at, 0, 1, height);
    const text = i ? `+${timeText(t - p.marks[i - 1]!, step / 100)}` : timeText(t, step / 100);
    const wide = g.measureText(text).width + 8;
    const left = at + wide > width ? at - wide : at;
    g.fillStyle = c.mark;
    g.fillRect(left, 0, wide, RULER - 6);
    g.fillStyle = c.canvas;
    g.fillText(text, left + 4, 13);
  });
  if (p.pointed !== null) {
    g.fillStyle = c.accent;
    g.globalAlpha = 0.6;
    g.fillRect(Math.round(x(p.pointed)), 0, 1, height);
    g.globalAlpha = 1;
  }
}

/** The whole run on one strip, with a frame around what is shown. */
export function drawOverview(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  rows: readonly SpanRow[],
  end: number,
  shown: Stretch,
  c: Palette,
): void {
  const pitch = Math.max(2, Math.min(8, Math.floor((height - 12) / Math.max(1, rows.length))));
  rows.forEach((row, i) => {
    const y = 8 + i * pitch;
    if (y + pitch > height - 4) return;
    pieces(row, 0, end, width, (x0, x1, first, _, share) => {
      g.globalAlpha = 0.3 + 0.6 * share;
      g.fillStyle = c.hue[HUES[row.hue[first]!]!];
      g.fillRect(x0, y, Math.max(1, x1 - x0 - 0.5), Math.max(1, pitch - 2));
    });
  });
  g.globalAlpha = 1;
  if (shown[0] <= 0 && shown[1] >= end) return;
  const left = (shown[0] / end) * width;
  const wide = Math.max(3, ((shown[1] - shown[0]) / end) * width);
  g.globalAlpha = 0.12;
  g.fillStyle = c.accent;
  g.fillRect(left, 3, wide, height - 6);
  g.globalAlpha = 1;
  g.strokeStyle = c.accent;
  g.strokeRect(left + 0.5, 3.5, wide - 1, height - 7);
}
