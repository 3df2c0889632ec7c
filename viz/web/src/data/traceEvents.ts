/**
 * A timeline in the trace event format, as Perfetto and chrome://tracing open it: the same as
 * viz/share/perfetto.py makes, held to one file by tests of both. Pure.
 */
import type { TimelineData, TimelineTrack } from "./messages/timeline";

export interface TraceEvent {
  ph: "X" | "B" | "C" | "M";
  name: string;
  pid: number;
  tid?: number;
  cat?: string;
  /** Microseconds. */
  ts?: number;
  dur?: number;
  args: Record<string, string | number>;
}

/** Devices become threads with numbers from here on, behind the real ones. */
const DEVICES_FROM = 1_000_000;
const CATEGORIES = ["schedule", "kernel", "pass", "group"];

/** The file that Perfetto opens; `run` names the main process. */
export function traceEvents(
  data: TimelineData,
  run: string,
): { traceEvents: TraceEvent[]; displayTimeUnit: "ms" } {
  const events: TraceEvent[] = [];
  const named = new Set<number>();
  const meta = (name: string, pid: number, tid: number, args: TraceEvent["args"]): void =>
    void events.push({ ph: "M", name, pid, tid, args });
  data.tracks.forEach((track, position) => {
    const pid = track.pid || track.process + 1;
    if (!named.has(pid)) {
      named.add(pid);
      meta("process_name", pid, 0, { name: track.process === 0 ? run : `process ${pid}` });
      meta("process_sort_index", pid, 0, { sort_index: track.process });
    }
    const tid = track.kind === "thread" ? track.thread : DEVICES_FROM + position;
    if (track.kind !== "memory") {
      meta("thread_name", pid, tid, { name: track.name });
      meta("thread_sort_index", pid, tid, { sort_index: position });
    }
    let ts = 0;
    track.start.forEach((delta, i) => {
      ts += delta;
      events.push(event(data.names, track, i, ts, pid, tid));
    });
  });
  return { traceEvents: events, displayTimeUnit: "ms" };
}

function event(
  names: readonly string[],
  track: TimelineTrack,
  i: number,
  ts: number,
  pid: number,
  tid: number,
): TraceEvent {
  if (track.kind === "memory")
    return { ph: "C", name: `${track.name} memory`, ts, pid, args: { bytes: track.bytes[i]! } };
  const name = names[track.names[i]!] ?? "?";
  if (track.kind === "device") {
    const args = { bytes: track.bytes[i]! };
    return { ph: "X", name, cat: "launch", ts, dur: track.ns[i]! / 1000, pid, tid, args };
  }
  const args = { id: track.id[i]!, steps: track.steps[i]! };
  const cat = CATEGORIES[track.kinds[i]!] ?? "group";
  const dur = track.us[i]!;
  if (dur < 0) return { ph: "B", name, cat, ts, pid, tid, args };
  return { ph: "X", name, cat, ts, dur, pid, tid, args };
}
