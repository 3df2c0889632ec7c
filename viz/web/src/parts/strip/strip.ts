/** What strips of steps have in common: colours, what is painted once, the grid, the pointer. */
import { prepare } from "../../ui/canvas";
import { barWidth, type Scale, ticks, xOf } from "./scale";

export interface Palette {
  line: string;
  bar: string;
  accent: string;
  accentBg: string;
  removed: string;
  added: string;
  moved: string;
}

export function readPalette(el: Element): Palette {
  const css = getComputedStyle(el);
  const read = (name: string): string => css.getPropertyValue(name).trim();
  return {
    line: read("--line"),
    bar: read("--line2"),
    accent: read("--accent"),
    accentBg: read("--accentbg"),
    removed: read("--del"),
    added: read("--add"),
    moved: read("--mov"),
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

/** Lines at round steps. */
export function grid(g: CanvasRenderingContext2D, f: Frame, top: number): void {
  const { scale, palette } = f;
  g.fillStyle = palette.line;
  for (const k of ticks(scale, Math.max(2, scale.width / 90)))
    g.fillRect(Math.round(scale.margin + k * scale.pitch), top, 1, f.height - top);
}

/** The column of the current step, where columns are wide enough to be seen. */
export function column(g: CanvasRenderingContext2D, f: Frame, top: number): void {
  const { scale, palette } = f;
  if (f.current <= 0 || scale.pitch < 3) return;
  g.fillStyle = palette.accentBg;
  const wide = Math.min(scale.pitch, barWidth(scale) + 6);
  g.fillRect(xOf(scale, f.current) - wide / 2, top, wide, f.height - top);
}

/** Where the current step is. */
export function pointer(g: CanvasRenderingContext2D, f: Frame): void {
  const x = xOf(f.scale, f.current);
  g.fillStyle = f.palette.accent;
  g.fillRect(x - 0.75, 2, 1.5, f.height - 2);
  g.beginPath();
  g.moveTo(x - 5, 0);
  g.lineTo(x + 5, 0);
  g.lineTo(x, 6);
  g.fill();
}
