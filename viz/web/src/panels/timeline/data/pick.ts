/** What can be selected in the timeline, as text for the address and back. Pure. */
import type { TimelineData } from "../../../data/messages/timeline";
import { HUES, timesOf, type Hue } from "./spans";
import type { Stretch } from "./scale";

/** A selected span: a context, a pass or a launch. */
export interface Picked {
  name: string;
  hue: Hue;
  span: Stretch;
  track: number;
  /** Context or rewrite id; null for a launch. */
  entry: number | null;
  failed: boolean;
  open: boolean;
  steps: number;
  /** Of a launch. */
  bytes: number;
}

export const entryPick = (id: number): string => `e${id}`;
export const launchPick = (track: number, item: number): string => `l${track}.${item}`;
export const namePick = (name: string): string => `n:${name.slice(0, 200)}`;

/** The pick of item `item` of a track. */
export function pickOf(data: TimelineData, track: number, item: number): string {
  const t = data.tracks[track];
  return t?.kind === "thread" ? entryPick(t.id[item]!) : launchPick(track, item);
}

/** The name that a pick of all spans of one name is about; null for other picks. */
export function pickedName(pick: string | null): string | null {
  return pick?.startsWith("n:") ? pick.slice(2) : null;
}

/** The span that a pick means; null where the run has none. */
export function resolve(data: TimelineData, pick: string | null): Picked | null {
  const entry = /^e(\d+)$/.exec(pick ?? "");
  if (entry) {
    const id = Number(entry[1]);
    for (const [track, t] of data.tracks.entries()) {
      const item = t.kind === "thread" ? t.id.indexOf(id) : -1;
      if (item >= 0) return describe(data, track, item);
    }
  }
  const launch = /^l(\d+)\.(\d+)$/.exec(pick ?? "");
  return launch ? describe(data, Number(launch[1]), Number(launch[2])) : null;
}

function describe(data: TimelineData, track: number, item: number): Picked | null {
  const t = data.tracks[track];
  if (!t || t.kind === "memory" || item >= t.start.length) return null;
  const from = timesOf(t)[item]!;
  const name = data.names[t.names[item]!] ?? "?";
  const common = { name, track, bytes: 0, steps: 0, failed: false, open: false };
  if (t.kind === "device")
    return {
      ...common,
      hue: "launch",
      span: [from, from + t.ns[item]! / 1000],
      entry: null,
      bytes: t.bytes[item]!,
    };
  const us = t.us[item]!;
  return {
    ...common,
    hue: HUES[t.kinds[item]!] ?? "group",
    span: [from, us < 0 ? Math.max(from, data.end) : from + us],
    entry: t.id[item]!,
    failed: t.failed.includes(item),
    open: us < 0,
    steps: t.steps[item]!,
  };
}
