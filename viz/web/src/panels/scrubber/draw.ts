/** Paints the scrubber's two canvases. Colours come from the style sheet; no state of its own. */
import { barHeight, columns, ticks, xOf, type Scale } from "./scale";

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

/** The canvas sized for the screen's pixels, cleared; null while it has no room. */
function prepare(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const { clientWidth: w, clientHeight: h } = canvas;
  const g = canvas.getContext("2d");
  if (!g || !w || !h) return null;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(w * ratio);
  canvas.height = Math.round(h * ratio);
  g.scale(ratio, ratio);
  return g;
}

interface Frame {
  scale: Scale;
  palette: Palette;
  current: number;
}

function backdrop(g: CanvasRenderingContext2D, f: Frame, top: number, bottom: number): void {
  const { scale, palette } = f;
  g.fillStyle = palette.line;
  for (const k of ticks(scale, Math.max(2, scale.width / 90)))
    g.fillRect(Math.round(scale.margin + k * scale.pitch), top, 1, bottom - top);
  if (f.current > 0 && scale.pitch >= 3) {
    g.fillStyle = palette.accentBg;
    g.fillRect(xOf(scale, f.current) - scale.pitch / 2, top, scale.pitch, bottom - top);
  }
}

/** One bar per step (or per column of steps): how many nodes it changed. */
export function drawOverview(
  canvas: HTMLCanvasElement,
  f: Frame,
  sizes: ArrayLike<number>,
  passes: (k: number) => boolean,
): void {
  const g = prepare(canvas);
  if (!g) return;
  const { scale, palette } = f;
  const h = canvas.clientHeight;
  backdrop(g, f, 6, h);
  let biggest = 1;
  for (let i = 0; i < sizes.length; i++) biggest = Math.max(biggest, sizes[i]!);
  const gap = scale.pitch >= 6 ? 3 : scale.pitch >= 3 ? 1 : 0;
  for (const c of columns(scale, sizes)) {
    const x = scale.margin + (c.first - 1) * scale.pitch;
    const here = f.current >= c.first && f.current < c.first + c.size;
    const tall = barHeight(c.value, biggest, h - 10);
    g.fillStyle = here ? palette.accent : palette.bar;
    g.globalAlpha = here ? 1 : passes(c.first) ? 0.65 : 0.2;
    g.fillRect(x + gap / 2, h - tall, Math.max(1, c.size * scale.pitch - gap), tall);
  }
  g.globalAlpha = 1;
  const x = xOf(scale, f.current);
  g.fillStyle = palette.accent;
  g.fillRect(x - 0.75, 2, 1.5, h - 2);
  g.beginPath();
  g.moveTo(x - 5, 0);
  g.lineTo(x + 5, 0);
  g.lineTo(x, 6);
  g.fill();
}

/** One lane per rule: a mark where it fired. */
export function drawLanes(
  canvas: HTMLCanvasElement,
  f: Frame,
  lanes: readonly { rule: number; steps: readonly number[] }[],
  active: number | null,
  laneHeight: number,
): void {
  const g = prepare(canvas);
  if (!g) return;
  const { scale, palette } = f;
  backdrop(g, f, 0, canvas.clientHeight);
  const gap = scale.pitch >= 6 ? 3 : 0;
  const wide = Math.max(1.5, scale.pitch - gap);
  lanes.forEach((lane, i) => {
    const on = lane.rule === active;
    g.fillStyle = on ? palette.accent : palette.bar;
    g.globalAlpha = on ? 1 : 0.75;
    let drawnTo = -1;
    for (const k of lane.steps) {
      const x = scale.margin + (k - 1) * scale.pitch + gap / 2;
      if (x + wide <= drawnTo) continue;
      g.fillRect(x, i * laneHeight + 4, wide, 7);
      drawnTo = x + wide;
    }
  });
  g.globalAlpha = 1;
  g.fillStyle = palette.accent;
  g.fillRect(xOf(scale, f.current) - 0.75, 0, 1.5, canvas.clientHeight);
}
