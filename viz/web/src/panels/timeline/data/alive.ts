/** Which allocations a device's memory holds at a moment. Pure. */
import type { MemoryTrack, TimelineData } from "../../../data/messages/timeline";
import { timesOf } from "./spans";

/** An allocation that lasts at the moment. */
export interface Allocation {
  bytes: number;
  /** When it was taken, in microseconds. */
  since: number;
  /** The kernel or copy that was the first to write it; "" for none. */
  kernel: string;
  /** The user's lines and calls that asked for that kernel. */
  lines: readonly string[];
}

/** What a device's memory holds after one of its changes. */
export interface Moment {
  track: number;
  /** Which change. */
  item: number;
  device: string;
  time: number;
  bytes: number;
  /** Whether there never is more. */
  peak: boolean;
  /** Largest first. */
  alive: readonly Allocation[];
  /** Bytes of allocations that began before the recording, or that it does not have. */
  unknown: number;
}

export const momentPick = (track: number, item: number): string => `m${track}.${item}`;
/** The pick of the moment at which the fullest device is fullest. */
export const PEAK = "peak";

/** The moment that a pick means; null where the run has none. */
export function momentOf(data: TimelineData, pick: string | null): Moment | null {
  const named = /^m(\d+)\.(\d+)$/.exec(pick ?? "");
  const at = named ? ([Number(named[1]), Number(named[2])] as const) : pick === PEAK ? peakOf(data) : null;
  const track = at && data.tracks[at[0]];
  if (!track || track.kind !== "memory" || at[1] >= track.bytes.length) return null;
  return describe(data, track, at[0], at[1]);
}

/** Track and change of the highest peak. */
function peakOf(data: TimelineData): readonly [number, number] | null {
  let best: readonly [number, number] | null = null;
  let most = -1;
  for (const [i, track] of data.tracks.entries()) {
    if (track.kind !== "memory") continue;
    for (const [k, bytes] of track.bytes.entries())
      if (bytes > most) [best, most] = [[i, k], bytes];
  }
  return best;
}

function describe(data: TimelineData, track: MemoryTrack, at: number, item: number): Moment {
  const times = timesOf(track);
  const alive = new Map<number, Allocation>();
  for (let i = 0; i <= item; i++) {
    const number = track.numbers[i] ?? 0;
    if (!number || alive.delete(number)) continue;
    const lines = data.names[track.lines[i]!] ?? "";
    alive.set(number, {
      bytes: track.taken[i]!,
      since: times[i]!,
      kernel: data.names[track.kernels[i]!] ?? "",
      lines: lines ? lines.split("\n") : [],
    });
  }
  const bytes = track.bytes[item]!;
  const known = [...alive.values()].sort((a, z) => z.bytes - a.bytes || a.since - z.since);
  return {
    ...{ track: at, item, device: track.name, time: times[item]!, bytes },
    peak: track.bytes.every((other) => other <= bytes),
    alive: known,
    unknown: Math.max(0, bytes - known.reduce((sum, one) => sum + one.bytes, 0)),
  };
}
