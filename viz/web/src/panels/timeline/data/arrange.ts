/** Which rows stand where: tracks from top to bottom, each with its label. Pure. */
import type { TimelineData } from "../../../data/messages/timeline";
import { bytes, micros, plural, short } from "../../../state/format";
import { above, type Lane, type MemoryRow, type Part, type SpanRow } from "./spans";

export type { Part } from "./spans";

/** One labelled strip of the view. */
export interface Shelf {
  key: string;
  track: number;
  label: string;
  note: string;
  top: number;
  height: number;
  /** Rows of spans with their tops. */
  rows: { row: SpanRow; top: number }[];
  memory: MemoryRow | null;
  /** Name of the kernel that a shelf is about; -1 for others. */
  kernel: number;
  /** Of devices: whether the kernels are shown one by one; null for others. */
  opened: boolean | null;
}

export const SPAN = 22;
const GAP = 4;
const PAD = 8;
const MEMORY = 84;
const KERNEL = 26;

export function arrange(
  data: TimelineData,
  lanes: readonly Lane[],
  part: Part | "all",
  opened: ReadonlySet<number>,
): Shelf[] {
  const shelves: Shelf[] = [];
  let top = 0;
  const many = new Set(data.tracks.map((t) => t.process)).size > 1;
  const put = (shelf: Omit<Shelf, "top">): void => {
    shelves.push({ ...shelf, top, rows: shelf.rows.map((r) => ({ ...r, top: top + r.top })) });
    top += shelf.height;
  };
  for (const lane of lanes) {
    const track = data.tracks[lane.track]!;
    const key = String(lane.track);
    const whose = many ? `pid ${track.pid}` : "";
    const common = { key, track: lane.track, kernel: -1, opened: null, memory: null };
    const name = short(track.name, 40);
    if (lane.memory) {
      if (part !== "all" && part !== "memory") continue;
      const note = [`peak ${bytes(lane.memory.peak)}`, whose].filter(Boolean).join(", ");
      put({
        ...common,
        label: `${name} memory`,
        note,
        height: MEMORY,
        rows: [],
        memory: lane.memory,
      });
      continue;
    }
    if (track.kind === "device") {
      if (part !== "all" && part !== "run") continue;
      const open = opened.has(lane.track);
      const note = [plural(track.start.length, "launch", "launches"), whose];
      put({
        ...common,
        label: name,
        note: note.filter(Boolean).join(", "),
        height: SPAN + 2 * PAD + 8,
        rows: lane.rows.map((row) => ({ row, top: PAD + 2 })),
        opened: open,
      });
      for (const k of open ? lane.kernels : [])
        put({
          ...common,
          key: `${key}.${k.name}`,
          label: short(data.names[k.name] ?? "?", 40),
          note: micros(k.total),
          height: KERNEL,
          rows: [{ row: k.row, top: (KERNEL - SPAN + 4) / 2 }],
          kernel: k.name,
        });
      continue;
    }
    if (part === "run" || part === "memory") continue;
    const rows = part === "all" ? lane.rows : onlyPart(lane.rows, part);
    if (!rows.length) continue;
    put({
      ...common,
      label: track.name === "main thread" ? "Main thread" : name,
      note: whose,
      height: rows.length * (SPAN + GAP) - GAP + 2 * PAD,
      rows: rows.map((row, level) => ({ row, top: PAD + level * (SPAN + GAP) })),
    });
  }
  return shelves;
}

/** Spans that are a schedule (or a kernel), and what lies in them in time. */
function onlyPart(rows: readonly SpanRow[], part: Part): SpanRow[] {
  const wanted = part === "schedule" ? 0 : 1;
  const roots: SpanRow[] = [];
  const kept: SpanRow[] = [];
  for (const row of rows) {
    const mine = Array.from(row.start.keys()).filter(
      (i) => row.hue[i] === wanted || (row.hue[i] === 2 && roots.some((r) => within(r, row, i))),
    );
    if (!mine.length) continue;
    const cut = subset(row, mine);
    roots.push(
      subset(
        row,
        mine.filter((i) => row.hue[i] === wanted),
      ),
    );
    kept.push(cut);
  }
  return kept;
}

function within(root: SpanRow, row: SpanRow, i: number): boolean {
  const at = above(root.start, row.start[i]!) - 1;
  return at >= 0 && root.end[at]! >= row.end[i]!;
}

function subset(row: SpanRow, at: readonly number[]): SpanRow {
  const busy = new Float64Array(at.length + 1);
  at.forEach((i, k) => (busy[k + 1] = busy[k]! + row.busy[i + 1]! - row.busy[i]!));
  return {
    track: row.track,
    start: Float64Array.from(at, (i) => row.start[i]!),
    end: Float64Array.from(at, (i) => row.end[i]!),
    busy,
    item: Int32Array.from(at, (i) => row.item[i]!),
    name: Int32Array.from(at, (i) => row.name[i]!),
    hue: Uint8Array.from(at, (i) => row.hue[i]!),
  };
}
