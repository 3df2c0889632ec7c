/** Where a step lies on the scrubber, and which step lies under the pointer. Pure. */
import { firstFrom } from "../../model/filter";

export interface Scale {
  count: number;
  /** Width of the drawing in CSS pixels and the margin on both sides. */
  width: number;
  margin: number;
  /** Pixels of one step; below 1 for passes with more steps than pixels. */
  pitch: number;
}

const MARGIN = 16;
/** The bars of few steps stand apart rather than grow into blocks. */
const WIDEST = 24;

export function makeScale(count: number, width: number): Scale {
  const room = Math.max(1, width - 2 * MARGIN);
  return { count, width, margin: MARGIN, pitch: count ? room / count : room };
}

/** Width of the bar or mark of one step; it stands in the middle of the step's column. */
export function barWidth(scale: Scale): number {
  const gap = scale.pitch >= 6 ? 3 : scale.pitch >= 3 ? 1 : 0;
  return Math.min(WIDEST, scale.pitch - gap);
}

/** Middle of step k's column (k from 1). Step 0, the input graph, is the left edge. */
export function xOf(scale: Scale, k: number): number {
  return k <= 0 ? scale.margin : scale.margin + (k - 0.5) * scale.pitch;
}

/** The step under x, within 1..count; 0 in the left margin. */
export function stepAt(scale: Scale, x: number): number {
  if (!scale.count || x < scale.margin) return 0;
  return Math.min(scale.count, Math.floor((x - scale.margin) / scale.pitch) + 1);
}

/** Of ascending steps the one nearest to `k` if it is within `pixels` of it; else `k` itself. */
export function snap(scale: Scale, k: number, passing: readonly number[], pixels = 4): number {
  const at = firstFrom(passing, k);
  let best = k;
  let distance = pixels / scale.pitch;
  for (const candidate of passing.slice(Math.max(0, at - 1), at + 1)) {
    const d = Math.abs(candidate - k);
    if (d <= distance) {
      best = candidate;
      distance = d;
    }
  }
  return best;
}

/** Consecutive steps drawn as one: the first of them, how many, and the largest value. */
export interface Column {
  first: number;
  size: number;
  value: number;
}

/**
 * Steps gathered into columns at least one pixel wide: the largest value of each column, so that
 * no big change vanishes between pixels. With `only`, just the column that holds that step.
 */
export function columns(scale: Scale, values: ArrayLike<number>, only?: number): Column[] {
  const per = Math.max(1, Math.ceil(1 / scale.pitch));
  const from = only === undefined ? 0 : Math.floor((only - 1) / per) * per;
  if (from < 0) return [];
  const to = only === undefined ? scale.count : Math.min(scale.count, from + 1);
  const out: Column[] = [];
  for (let i = from; i < to; i += per) {
    const end = Math.min(i + per, scale.count);
    let value = 0;
    for (let j = i; j < end; j++) value = Math.max(value, values[j] ?? 0);
    out.push({ first: i + 1, size: end - i, value });
  }
  return out;
}

/** Round steps for the grid: at most `most` of them, 1-2-5 apart. */
export function ticks(scale: Scale, most: number): number[] {
  if (scale.count < 2) return [];
  let gap = 1;
  for (let power = 1; ; power *= 10) {
    const fit = [1, 2, 5].find((m) => scale.count / (m * power) <= most);
    if (fit !== undefined) {
      gap = fit * power;
      break;
    }
  }
  const out: number[] = [];
  for (let k = gap; k < scale.count; k += gap) out.push(k);
  return out;
}

/** Height of a bar: by the root of the change, so that one large bar hides no others. */
export function barHeight(size: number, biggest: number, height: number): number {
  if (size <= 0) return 1;
  return Math.max(2, Math.sqrt(size / Math.max(1, biggest)) * height);
}
