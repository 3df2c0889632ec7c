/** Paints a figure over the commits, and what is told of one of them. */
import type { FleetPoint, FleetSeries } from "../../data/fleet";
import { short } from "../../state/format";
import { prepare } from "../../ui/canvas";
import { marksOf, xOf, type Mark, type Range } from "./plotScale";
import { said } from "./words";

export const INKS = ["--o-alu", "--o-red", "--o-mem", "--o-view", "--o-range", "--o-dev"];
/** Room beside and around the drawing. */
export const [LEFT, RIGHT] = [72, 12];
const [TOP, FOOT] = [10, 22];
/** Pixels between commits from which on each of them has a dot. */
const DOTTED = 6;
const LINE = 16;
const PAD = 8;

export interface Picture {
  known: FleetSeries;
  /** The number of the commit of each point, by program. */
  order: readonly (readonly number[])[];
  range: Range;
  size: readonly [width: number, height: number];
}

type Ink = (name: string) => string;
type Y = (value: number) => number;

export function paintFigure(canvas: HTMLCanvasElement, picture: Picture): void {
  const { known, order, range } = picture;
  const [width, height] = picture.size;
  const g = sized(canvas, width, height);
  if (!g) return;
  const ink = inkOf(canvas);
  const wide = width - LEFT - RIGHT;
  const marks = known.programs.map((p, i) => marksOf(p.points, order[i]!, range, wide));
  const most = mostOf(picture);
  const y: Y = (value) => TOP + (height - TOP - FOOT) * (1 - value / most);
  g.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    g.fillStyle = ink("--line");
    g.fillRect(LEFT, Math.round(y(share * most)), wide, 1);
    g.fillStyle = ink("--text3");
    g.textAlign = "right";
    g.fillText(said(known.metric, share * most), LEFT - 8, y(share * most));
  }
  const [first, last] = [Math.floor(range[0]), Math.ceil(range[1]) - 1];
  g.textAlign = "left";
  g.fillText(known.commits[first]!.slice(0, 8), LEFT, height - 8);
  g.textAlign = "right";
  if (last > first) g.fillText(known.commits[last]!.slice(0, 8), width - RIGHT, height - 8);
  g.save();
  g.beginPath();
  g.rect(LEFT, 0, wide, height - FOOT + 4);
  g.clip();
  g.translate(LEFT, 0);
  changeMarks(g, picture, wide, height, ink("--mov"));
  const step = wide / (range[1] - range[0]);
  marks.forEach((own, i) => line(g, own, ink(INKS[i % INKS.length]!), y, step >= DOTTED));
  g.restore();
}

/** The largest value of all commits: the scale stays when others are shown. */
function mostOf({ known }: Picture): number {
  let most = 1e-9;
  for (const { points } of known.programs)
    for (const { high } of points) if (high > most) most = high;
  return most;
}

function changeMarks(
  g: CanvasRenderingContext2D,
  { known, order, range }: Picture,
  wide: number,
  height: number,
  color: string,
): void {
  g.setLineDash([3, 3]);
  g.strokeStyle = color;
  g.lineWidth = 1;
  const half = wide / (range[1] - range[0]) / 2;
  const drawn = new Set<number>();
  known.programs.forEach((p, i) => {
    const changed = new Set(p.changes.map((c) => c.commit));
    if (changed.size)
      p.points.forEach((q, j) => {
        if (changed.has(q.commit)) drawn.add(order[i]![j]!);
      });
  });
  for (const commit of drawn) {
    const left = Math.round(xOf(range, commit, wide) - half) + 0.5;
    g.beginPath();
    g.moveTo(left, TOP);
    g.lineTo(left, height - FOOT);
    g.stroke();
  }
  g.setLineDash([]);
}

function line(
  g: CanvasRenderingContext2D,
  marks: readonly Mark[],
  color: string,
  y: Y,
  isDotted: boolean,
): void {
  g.strokeStyle = g.fillStyle = color;
  g.globalAlpha = 0.35;
  const wide = isDotted ? 2 : 1;
  for (const m of marks) g.fillRect(m.x - 1, y(m.high), wide, Math.max(1, y(m.low) - y(m.high)));
  g.globalAlpha = 1;
  g.lineWidth = 1.5;
  g.beginPath();
  marks.forEach((m, i) => g[i ? "lineTo" : "moveTo"](m.x, y(m.median)));
  g.stroke();
  if (!isDotted) return;
  g.beginPath();
  for (const m of marks) {
    g.moveTo(m.x + 2.5, y(m.median));
    g.arc(m.x, y(m.median), 2.5, 0, 7);
  }
  g.fill();
}

/** A line at a commit, and a box with its figures; nothing, for none. */
export function paintCommit(
  canvas: HTMLCanvasElement,
  picture: Picture,
  commit: number | null,
): void {
  const { known, range } = picture;
  const [width, height] = picture.size;
  const g = sized(canvas, width, height);
  if (!g || commit === null || !known.commits[commit]) return;
  const ink = inkOf(canvas);
  const name = known.commits[commit];
  const x = LEFT + xOf(range, commit, width - LEFT - RIGHT);
  g.fillStyle = ink("--text3");
  g.fillRect(Math.round(x), TOP, 1, height - TOP - FOOT);
  const rows = known.programs.flatMap((p, i) => {
    const point = p.points[placeOf(picture.order[i]!, commit)];
    return point?.commit === name
      ? [
          {
            program: short(p.program, 28),
            value: valueOf(known, point),
            ink: INKS[i % INKS.length]!,
          },
        ]
      : [];
  });
  const shown = rows.slice(0, Math.max(1, Math.floor((height - TOP - FOOT) / LINE) - 2));
  const wide =
    Math.max(
      g.measureText(name.slice(0, 12)).width,
      ...shown.map((r) => 14 + g.measureText(`${r.program}  ${r.value}`).width),
    ) +
    2 * PAD;
  const high = (shown.length + 1) * LINE + PAD;
  const left = x + 12 + wide > width ? x - 12 - wide : x + 12;
  g.fillStyle = ink("--surface");
  g.strokeStyle = ink("--line2");
  g.beginPath();
  g.roundRect(Math.round(left) + 0.5, TOP + 0.5, Math.round(wide), high, 6);
  g.fill();
  g.stroke();
  g.textBaseline = "middle";
  g.textAlign = "left";
  g.fillStyle = ink("--text");
  g.fillText(name.slice(0, 12), left + PAD, TOP + 4 + LINE / 2);
  shown.forEach((r, i) => {
    const y = TOP + 4 + LINE * (i + 1.5);
    g.fillStyle = ink(r.ink);
    g.beginPath();
    g.arc(left + PAD + 4, y, 4, 0, 7);
    g.fill();
    g.fillStyle = ink("--text2");
    g.textAlign = "left";
    g.fillText(r.program, left + PAD + 14, y);
    g.fillStyle = ink("--text");
    g.textAlign = "right";
    g.fillText(r.value, left + wide - PAD, y);
  });
}

function valueOf({ metric }: FleetSeries, { median, low, high, runs }: FleetPoint): string {
  const text = said(metric, median);
  return runs > 1 && low < high ? `${text} (${said(metric, low)} – ${said(metric, high)})` : text;
}

/** Where a number is among numbers that rise; -1 where it is not. */
function placeOf(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = numbers[middle]!;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

function sized(canvas: HTMLCanvasElement, width: number, height: number) {
  const g = prepare(canvas, width, height);
  if (!g) return null;
  const style = canvas.style;
  if (style.width !== `${width}px`) style.width = `${width}px`;
  if (style.height !== `${height}px`) style.height = `${height}px`;
  g.font = `11px ${fontOf(canvas)}`;
  return g;
}

const fontOf = (canvas: HTMLCanvasElement): string => getComputedStyle(canvas).fontFamily;

function inkOf(canvas: HTMLCanvasElement): Ink {
  const style = getComputedStyle(canvas);
  return (name) => style.getPropertyValue(name);
}
