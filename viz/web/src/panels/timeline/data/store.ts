/** The timeline's data and what of it is shown. Fetches only while the view is open. */
import { batch, computed, signal } from "@preact/signals";
import { announce, data } from "../../../state/actions";
import { view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import type { TimelineData } from "../../../data/messages/timeline";
import { arrange, type Part, type Shelf } from "./arrange";
import { momentOf, momentPick, PEAK } from "./alive";
import { pickedName, pickOf, resolve } from "./pick";
import { around, bounded, panned, shows, zoomed, type Stretch } from "./scale";
import { above, lanesOf, totals, type SpanRow } from "./spans";
import { timelineLink, goTimeline } from "./link";

/** Asked for while the view is open. */
export const timeline = new Watched<TimelineData>(
  "api/timeline",
  () => view.value.page === "timeline",
  (signal) => data().timeline(signal),
);
export const timelineData = timeline.answer;
/** Which tracks are shown. */
export const part = signal<Part | "all">("all");
/** Tracks of devices that show a row per kernel. */
export const opened = signal<ReadonlySet<number>>(new Set());
/** Time under the pointer. */
export const pointed = signal<number | null>(null);

const REST_MS = 250;

export const lanes = computed(() => (timelineData.value ? lanesOf(timelineData.value) : []));
export const end = computed(() => Math.max(1, timelineData.value?.end ?? 1));
/** While the stretch moves: the address follows once it rests, browsers allow it no faster. */
const moving = signal<Stretch | null>(null);
export const shown = computed<Stretch>(() =>
  bounded(moving.value ?? timelineLink.value.time ?? [0, end.value], end.value),
);
export const shelves = computed<readonly Shelf[]>(() =>
  timelineData.value ? arrange(timelineData.value, lanes.value, part.value, opened.value) : [],
);
export const picked = computed(() =>
  timelineData.value ? resolve(timelineData.value, timelineLink.value.pick) : null,
);
/** What a device's memory holds at the moment that is picked. */
export const moment = computed(() =>
  timelineData.value ? momentOf(timelineData.value, timelineLink.value.pick) : null,
);
/** Index of the name that is picked, by itself or through a launch; -1 for none. */
export const litName = computed(() => {
  const name =
    pickedName(timelineLink.value.pick) ??
    (picked.value?.entry === null ? picked.value.name : null);
  return name === null ? -1 : (timelineData.value?.names.indexOf(name) ?? -1);
});

/** All rows of spans that count once: not those that repeat a device's launches by kernel. */
export const spanRows = computed<SpanRow[]>(() => lanes.value.flatMap((lane) => lane.rows));
/** The rows of the tracks that are shown, each launch once. */
const shownRows = computed<SpanRow[]>(() =>
  shelves.value
    .filter((shelf) => shelf.kernel < 0)
    .flatMap((shelf) => shelf.rows.map(({ row }) => row)),
);
/** What everything in view took, by name: of the tracks that are shown. */
export const inView = computed(() => totals(shownRows.value, shown.value[0], shown.value[1]));
/** The same for the whole run. */
export const inRun = computed(() => totals(spanRows.value, 0, Infinity));

let resting: ReturnType<typeof setTimeout> | undefined;

/** Shows a stretch of time; all of the run needs no place in the address. */
export function show(stretch: Stretch): void {
  moving.value = stretch;
  clearTimeout(resting);
  resting = setTimeout(() => {
    const whole = stretch[0] <= 0 && stretch[1] >= end.peek();
    batch(() => {
      moving.value = null;
      if (view.peek().page === "timeline") goTimeline({ time: whole ? null : stretch }, "replace");
    });
  }, REST_MS);
}

const middle = (): number => pointed.peek() ?? (shown.peek()[0] + shown.peek()[1]) / 2;

export function zoom(factor: number, at = middle()): void {
  show(zoomed(shown.peek(), factor, at, end.peek()));
}

/** Moves by a share of what is shown. */
export function pan(share: number): void {
  const [from, to] = shown.peek();
  show(panned(shown.peek(), share * (to - from), end.peek()));
}

export function zoomToPicked(): void {
  const p = picked.peek();
  if (p) show(around(p.span, end.peek()));
}

export function pickItem(track: number, item: number): void {
  const d = timelineData.peek();
  if (!d) return;
  goTimeline({ pick: pickOf(d, track, item) });
  revealPicked();
}

function revealPicked(): void {
  const p = picked.peek();
  if (!p || shows(shown.peek(), p.span)) return;
  const [from, to] = shown.peek();
  const long = p.span[1] - p.span[0] > to - from;
  if (long) return;
  show(panned(shown.peek(), (p.span[0] + p.span[1]) / 2 - (from + to) / 2, end.peek()));
}

/** Shows what a device's memory holds at a time. */
export function pickMoment(track: number, time: number): void {
  const row = lanes.peek()[track]?.memory;
  const item = row ? above(row.time, time) - 1 : -1;
  if (item >= 0) goTimeline({ pick: momentPick(track, item) });
}

/** Shows what memory holds where it is fullest. */
export const pickPeak = (): void => goTimeline({ pick: PEAK });

/** The next (or previous) change of the memory that is looked at; of spans: of the picked name, or
 * else of the row of the picked span. */
export function pickNext(direction: 1 | -1): void {
  const m = moment.peek();
  if (m) {
    const item = m.item + direction;
    const there = lanes.peek()[m.track]?.memory?.time[item] !== undefined;
    if (there) goTimeline({ pick: momentPick(m.track, item) });
    else announce(direction > 0 ? "Nothing later" : "Nothing earlier");
    return;
  }
  const p = picked.peek();
  const name = litName.peek();
  const at = p ? p.span[0] : shown.peek()[0] - direction;
  let best: { row: SpanRow; i: number } | null = null;
  for (const row of spanRows.peek()) {
    if (p && p.entry !== null && !(row.track === p.track && holds(row, p.span[0], p.name)))
      continue;
    for (
      let i = direction > 0 ? above(row.start, at) : above(row.start, at) - 1;
      ;
      i += direction
    ) {
      if (i < 0 || i >= row.start.length) break;
      if (row.start[i] === at && p) continue;
      if (name >= 0 && row.name[i] !== name) continue;
      const better = best === null || (row.start[i]! - best.row.start[best.i]!) * direction < 0;
      if (better) best = { row, i };
      break;
    }
  }
  if (best) pickItem(best.row.track, best.row.item[best.i]!);
  else announce(direction > 0 ? "Nothing later" : "Nothing earlier");
}

function holds(row: SpanRow, start: number, name: string): boolean {
  const i = above(row.start, start) - 1;
  const names = timelineData.peek()?.names;
  return i >= 0 && row.start[i] === start && names?.[row.name[i]!] === name;
}

/** Puts a mark at the pointer, else at the start of what is picked; takes away one that is near. */
export function mark(): void {
  const at = pointed.peek() ?? picked.peek()?.span[0] ?? middle();
  const near = (shown.peek()[1] - shown.peek()[0]) * 0.005;
  const marks = timelineLink.peek().marks;
  const kept = marks.filter((m) => Math.abs(m - at) > near);
  goTimeline(
    { marks: kept.length < marks.length ? kept : [...marks, at].sort((a, z) => a - z) },
    "replace",
  );
}

/** Brings the next mark into view: the first one behind the middle of what is shown, or the first. */
export function nextMark(): void {
  const [from, to] = shown.peek();
  const now = (from + to) / 2;
  const { marks } = timelineLink.peek();
  const at = marks.find((m) => m > now + (to - from) * 0.005) ?? marks[0];
  if (at !== undefined) show(panned([from, to], at - now, end.peek()));
}

export function toggleOpened(track: number): void {
  const next = new Set(opened.peek());
  if (!next.delete(track)) next.add(track);
  opened.value = next;
}
