/** Paints the scrubber's two canvases. Colours come from the style sheet; no state of its own. */
import { prepare } from "../../ui/canvas";
import { barHeight, barWidth, type Column, columns, xOf } from "../../parts/strip/scale";
import type { Sign } from "../../parts/check/marks";
import { type Backdrop, column, type Frame, grid, pointer } from "../../parts/strip/strip";

/** Marks that add less to the one before are left out, px: a lane may have 100,000. */
const VISIBLE = 0.5;

/** How many nodes each step changed, the most that one did, and which steps stand out. */
interface Bars {
  sizes: readonly number[];
  biggest: number;
  passes: (k: number) => boolean;
  /** Steps that were checked and are not proved, by what they are. */
  signs: ReadonlyMap<Sign, readonly number[]>;
  /** Steps of the same rule as the current one, and those that the reader has marked, ascending. */
  alike: readonly number[];
  marked: readonly number[];
}

/** One bar per step (or per column of steps): how many nodes it changed. */
export function drawOverview(
  canvas: HTMLCanvasElement,
  f: Frame,
  kept: Backdrop,
  { sizes, biggest, passes, signs, alike, marked }: Bars,
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
  kept.draw(g, f, [sizes, passes, alike], (own) => {
    grid(own, f, 6);
    const tinted = new Set(alike);
    for (const c of columns(scale, sizes)) {
      let same = false;
      for (let k = c.first; k < c.first + c.size && !same; k++) same = tinted.has(k);
      own.fillStyle = same ? palette.accent : palette.bar;
      own.globalAlpha = passes(c.first) ? (same ? 0.45 : 0.4) : 0.15;
      bar(own, c);
    }
  });
  const here = columns(scale, sizes, f.current)[0];
  g.fillStyle = palette.accent;
  if (here) bar(g, here);
  checked(g, f, signs);
  g.fillStyle = palette.moved;
  for (const k of marked) {
    const x = xOf(scale, k);
    g.beginPath();
    g.moveTo(x - 4, 1);
    g.lineTo(x + 4, 1);
    g.lineTo(x, 7);
    g.fill();
  }
  pointer(g, f);
}

/** Tall where a step differs, a low line where it holds but not for every value, half of one where it
 * could not be checked: told apart without colours, too. */
function checked(
  g: CanvasRenderingContext2D,
  f: Frame,
  signs: ReadonlyMap<Sign, readonly number[]>,
): void {
  const { palette, scale, height: h } = f;
  const wide = Math.max(2, barWidth(scale));
  const shapes: readonly [Sign, string, number][] = [
    ["unchecked", palette.bar, 2],
    ["sampled", palette.moved, 3],
    ["differs", palette.removed, 7],
  ];
  for (const [sign, color, tall] of shapes) {
    g.fillStyle = color;
    let drawnTo = -1;
    for (const k of signs.get(sign) ?? []) {
      const x = xOf(scale, k) - wide / 2;
      if (x + wide - drawnTo < VISIBLE) continue;
      g.fillRect(x, h - tall, sign === "unchecked" ? wide / 2 : wide, tall);
      drawnTo = x + wide;
    }
  }
}

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
