/**
 * Spans of a timeline as rows of typed arrays, and what of a row is drawn at a zoom. A frame costs
 * the pixels of its rows times a binary search, however many spans there are. Pure.
 */
import type { TimelineData, TimelineTrack } from "../../../data/messages/timeline";

/** What colours a span. */
export const HUES = ["schedule", "kernel", "pass", "group", "launch"] as const;
export type Hue = (typeof HUES)[number];
/** What the filter of the view knows. */
export type Part = "schedule" | "compile" | "run" | "memory" | "other";

/** Spans that follow each other in time, ascending. */
export interface SpanRow {
  track: number;
  start: Float64Array;
  /** Ends; never before that of an earlier span, so that they can be searched. */
  end: Float64Array;
  /** Time covered by all spans before each; one longer than the others. */
  busy: Float64Array;
  /** Position in the arrays of the track, and name. */
  item: Int32Array;
  name: Int32Array;
  hue: Uint8Array;
}

/** Sizes over time: each holds until the next. */
export interface MemoryRow {
  track: number;
  time: Float64Array;
  bytes: Float64Array;
  peak: number;
}

/** A track of the view, with its rows from top to bottom. */
export interface Lane {
  track: number;
  part: Part;
  rows: SpanRow[];
  memory: MemoryRow | null;
  /** For devices: a row for each kernel, by time, most expensive first. */
  kernels: KernelRow[];
}

export interface KernelRow {
  name: number;
  row: SpanRow;
  /** Microseconds of all its launches. */
  total: number;
}

const MOST_KERNELS = 500;

/** Times of a track from its differences. */
export function timesOf(track: TimelineTrack): Float64Array {
  const times = new Float64Array(track.start.length);
  let at = 0;
  for (let i = 0; i < times.length; i++) times[i] = at += track.start[i]!;
  return times;
}

/** All tracks as lanes, in the order of the message. */
export function lanesOf(data: TimelineData): Lane[] {
  return data.tracks.map((track, i) => {
    const times = timesOf(track);
    if (track.kind === "memory") {
      const bytes = Float64Array.from(track.bytes);
      const peak = bytes.reduce((most, b) => Math.max(most, b), 0);
      const memory = { track: i, time: times, bytes, peak };
      return { track: i, part: "memory", rows: [], memory, kernels: [] };
    }
    if (track.kind === "thread") return threadLane(data, i, times);
    const all = Int32Array.from(times.keys());
    const spans = spanRow(
      i,
      all,
      times,
      (k) => track.ns[k]! / 1000,
      track.names,
      () => 4,
    );
    return { track: i, part: "run", rows: [spans], memory: null, kernels: byKernel(spans) };
  });
}

function threadLane(data: TimelineData, at: number, times: Float64Array): Lane {
  const track = data.tracks[at]!;
  if (track.kind !== "thread") throw new Error("not a thread");
  const levels: number[][] = [];
  for (const [i, level] of track.level.entries()) {
    while (levels.length <= level) levels.push([]);
    levels[level]!.push(i);
  }
  const length = (i: number): number =>
    track.us[i]! < 0 ? Math.max(0, data.end - times[i]!) : track.us[i]!;
  const rows = Array.from(levels, (items) =>
    spanRow(at, Int32Array.from(items), times, length, track.names, (i) => track.kinds[i]!),
  );
  return { track: at, part: "other", rows, memory: null, kernels: [] };
}

function spanRow(
  track: number,
  items: Int32Array,
  times: Float64Array,
  length: (item: number) => number,
  names: readonly number[],
  hue: (item: number) => number,
): SpanRow {
  const n = items.length;
  const row: SpanRow = {
    track,
    start: new Float64Array(n),
    end: new Float64Array(n),
    busy: new Float64Array(n + 1),
    item: items,
    name: new Int32Array(n),
    hue: new Uint8Array(n),
  };
  let last = 0;
  for (let i = 0; i < n; i++) {
    const item = items[i]!;
    const us = length(item);
    row.start[i] = times[item]!;
    last = row.end[i] = Math.max(last, times[item]! + us);
    row.busy[i + 1] = row.busy[i]! + us;
    row.name[i] = names[item]!;
    row.hue[i] = hue(item);
  }
  return row;
}

/** A row for each name in a row. */
function byKernel(all: SpanRow): KernelRow[] {
  const groups = new Map<number, number[]>();
  for (let i = 0; i < all.item.length; i++) {
    const group = groups.get(all.name[i]!);
    if (group) group.push(i);
    else groups.set(all.name[i]!, [i]);
  }
  const made = [...groups].map(([name, at]) => {
    const pick = (from: Float64Array): Float64Array => Float64Array.from(at, (i) => from[i]!);
    const busy = new Float64Array(at.length + 1);
    at.forEach((i, k) => (busy[k + 1] = busy[k]! + all.busy[i + 1]! - all.busy[i]!));
    const row: SpanRow = {
      track: all.track,
      start: pick(all.start),
      end: pick(all.end),
      busy,
      item: Int32Array.from(at, (i) => all.item[i]!),
      name: new Int32Array(at.length).fill(name),
      hue: new Uint8Array(at.length).fill(4),
    };
    return { name, row, total: busy[at.length]! };
  });
  return made.sort((a, z) => z.total - a.total).slice(0, MOST_KERNELS);
}

/** The first position whose value is above `x`; values ascend. */
export function above(values: Float64Array, x: number): number {
  let lo = 0;
  let hi = values.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (values[mid]! > x) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/** Spans `first`..`last` drawn as one piece from pixel x0 to x1, of which they cover `share`. */
export type Draw = (x0: number, x1: number, first: number, last: number, share: number) => void;

/** Narrower spans share their pixel column with their neighbours. */
const OWN_PIXELS = 2;

/** Calls `draw` for what is seen of a row between `from` and `to`, on `width` pixels. */
export function pieces(row: SpanRow, from: number, to: number, width: number, draw: Draw): void {
  const scale = width / (to - from);
  const pixel = 1 / scale;
  const n = row.start.length;
  let i = above(row.end, from);
  // A span without length at the very edge still counts as seen.
  while (i > 0 && row.end[i - 1]! >= from) i--;
  while (i < n && row.start[i]! <= to) {
    const x0 = (row.start[i]! - from) * scale;
    const x1 = (row.end[i]! - from) * scale;
    if (x1 - x0 >= OWN_PIXELS) {
      draw(Math.max(0, x0), Math.min(width, x1), i, i, 1);
      i += 1;
      continue;
    }
    const column = Math.max(0, Math.floor(x0));
    const edge = from + (column + 1) * pixel;
    let next = Math.max(i + 1, above(row.start, edge));
    // The last one may be wide enough to stand by itself.
    if (next - 1 > i && (row.end[next - 1]! - row.start[next - 1]!) * scale >= OWN_PIXELS)
      next -= 1;
    const busy = row.busy[next]! - row.busy[i]!;
    draw(column, column + 1, i, next - 1, Math.min(1, busy * scale));
    i = next;
  }
}

/** The span at time `t`, or the nearest one within `slack`; -1 for none. */
export function spanAt(row: SpanRow, t: number, slack: number): number {
  const i = above(row.start, t) - 1;
  if (i >= 0 && row.end[i]! >= t) return i;
  const before = i >= 0 ? t - row.end[i]! : Infinity;
  const after = i + 1 < row.start.length ? row.start[i + 1]! - t : Infinity;
  if (Math.min(before, after) > slack) return -1;
  return before <= after ? i : i + 1;
}

/** What a kernel, pass or group took in a stretch of time. */
export interface Total {
  name: number;
  hue: number;
  count: number;
  /** Microseconds. */
  total: number;
  longest: number;
}

/** Totals by name and hue of the spans that reach between `from` and `to`, longest time first. */
export function totals(rows: Iterable<SpanRow>, from: number, to: number): Total[] {
  const found = new Map<number, Total>();
  for (const row of rows) {
    const last = above(row.start, to);
    let i = above(row.end, from);
    while (i > 0 && row.end[i - 1]! >= from) i--;
    for (; i < last; i++) {
      const key = row.name[i]! * HUES.length + row.hue[i]!;
      const us = row.busy[i + 1]! - row.busy[i]!;
      const total = found.get(key);
      if (total) {
        total.count += 1;
        total.total += us;
        total.longest = Math.max(total.longest, us);
      } else
        found.set(key, {
          name: row.name[i]!,
          hue: row.hue[i]!,
          count: 1,
          total: us,
          longest: us,
        });
    }
  }
  return [...found.values()].sort((a, z) => z.total - a.total);
}
