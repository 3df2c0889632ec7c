/** Paints the scrubber's two canvases. Colours come from the style sheet; no state of its own. */
import { prepare } from "../../ui/canvas";
import { barHeight, barWidth, type Column, columns, type Scale, ticks, xOf } from "./scale";

export interface Palette {
  line: string;
  bar: string;
  accent: string;
  accentBg: string;
}

export function readPalette(el: Element): Palette {
  const css = getComputedStyle(el);
  const read = (name: string): string => css.getPropertyValue(name).trim();
  return {
    line: read("--line"),
    bar: read("--line2"),
    accent: read("--accent"),
    accentBg: read("--accentbg"),
  };
}

/** The part of a strip that stepping leaves alone, painted once: it may have thousands of marks. */
export class Backdrop {
  private readonly canvas = document.createElement("canvas");
  private of: readonly unknown[] = [];

  /** Draws it; `paint` is called only if one of the values in `of` is another than last time. */
  draw(
    g: CanvasRenderingContext2D,
    f: Frame,
    of: readonly unknown[],
    paint: (g: CanvasRenderingContext2D) => void,
  ): void {
    const { width } = f.scale;
    const all = [...of, width, f.height, f.scale.count, f.palette, devicePixelRatio];
    if (all.some((value, i) => value !== this.of[i])) {
      const own = prepare(this.canvas, width, f.height);
      if (!own) return;
      own.globalAlpha = 1;
      paint(own);
      this.of = all;
    }
    g.drawImage(this.canvas, 0, 0, width, f.height);
  }
}

export interface Frame {
  scale: Scale;
  height: number;
  palette: Palette;
  current: number;
}

function grid(g: CanvasRenderingContext2D, f: Frame, top: number): void {
  const { scale, palette } = f;
  g.fillStyle = palette.line;
  for (const k of ticks(scale, Math.max(2, scale.width / 90)))
    g.fillRect(Math.round(scale.margin + k * scale.pitch), top, 1, f.height - top);
}

/** The column of the current step, where columns are wide enough to be seen. */
function column(g: CanvasRenderingContext2D, f: Frame, top: number): void {
  const { scale, palette } = f;
  if (f.current <= 0 || scale.pitch < 3) return;
  g.fillStyle = palette.accentBg;
  const wide = Math.min(scale.pitch, barWidth(scale) + 6);
  g.fillRect(xOf(scale, f.current) - wide / 2, top, wide, f.height - top);
}

/** How many nodes each step changed, the most that one did, and which steps stand out. */
interface Bars {
  sizes: readonly number[];
  biggest: number;
  passes: (k: number) => boolean;
}

/** One bar per step (or per column of steps): how many nodes it changed. */
export function drawOverview(
  canvas: HTMLCanvasElement,
  f: Frame,
  kept: Backdrop,
  { sizes, biggest, passes }: Bars,
): void {
  const g = prepare(canvas, f.scale.width, f.height);
  if (!g) return;
  const { scale, palette, height: h } = f;
  const bar = (to: CanvasRenderingContext2D, c: Column): void => {
    const tall = barHeight(c.value, biggest, h - 10);
    const wide = c.size > 1 ? Math.max(1, c.size * scale.pitch) : barWidth(scale);
    const middle = (xOf(scale, c.first) + xOf(scale, c.first + c.size - 1)) / 2;
    to.fillRect(middle - wide / 2, h - tall, wide, tall);
  };
  column(g, f, 6);
  kept.draw(g, f, [sizes, passes], (own) => {
    grid(own, f, 6);
    own.fillStyle = palette.bar;
    for (const c of columns(scale, sizes)) {
      own.globalAlpha = passes(c.first) ? 0.65 : 0.2;
      bar(own, c);
    }
  });
  const here = columns(scale, sizes, f.current)[0];
  g.fillStyle = palette.accent;
  if (here) bar(g, here);
  const x = xOf(scale, f.current);
  g.fillRect(x - 0.75, 2, 1.5, h - 2);
  g.beginPath();
  g.moveTo(x - 5, 0);
  g.lineTo(x + 5, 0);
  g.lineTo(x, 6);
  g.fill();
}

/** Marks that add less to the one before are left out, px: a lane may have 100,000. */
const VISIBLE = 0.5;

interface Lane {
  rule: number;
  steps: readonly number[];
}

/** One lane per rule: a mark where it fired. */
export function drawLanes(
  canvas: HTMLCanvasElement,
  f: Frame,
  kept: Backdrop,
  lanes: readonly Lane[],
  active: number | null,
  laneHeight: number,
): void {
  const g = prepare(canvas, f.scale.width, f.height);
  if (!g) return;
  const { scale, palette } = f;
  const wide = Math.max(1.5, barWidth(scale));
  const marks = (to: CanvasRenderingContext2D, lane: Lane, i: number): void => {
    let drawnTo = -1;
    for (const k of lane.steps) {
      const x = xOf(scale, k) - wide / 2;
      if (x + wide - drawnTo < VISIBLE) continue;
      to.fillRect(x, i * laneHeight + 4, wide, 7);
      drawnTo = x + wide;
    }
  };
  column(g, f, 0);
  kept.draw(g, f, [lanes], (own) => {
    grid(own, f, 0);
    own.globalAlpha = 0.75;
    own.fillStyle = palette.bar;
    lanes.forEach((lane, i) => marks(own, lane, i));
  });
  g.fillStyle = palette.accent;
  const at = lanes.findIndex((lane) => lane.rule === active);
  if (at >= 0) marks(g, lanes[at]!, at);
  g.fillRect(xOf(scale, f.current) - 0.75, 0, 1.5, f.height);
}
