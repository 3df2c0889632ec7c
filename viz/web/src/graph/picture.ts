/**
 * Where everything is: the places of the slots and the courses of the edges of one layout.
 *
 * Answers what a rectangle or a point holds, by rows and by a grid of edges, so that the cost of
 * a frame is that of what is visible. Never changes once made: stepping moves nothing. Pictures of
 * one world have what two neighbouring steps draw at the same place.
 */
import { isDrawn, placesIn } from "../model/around";
import { type Fold, membersAt } from "../model/fold/fold";
import { BOX_H, BOX_W, type Layout } from "../model/layout/layered";
import { type PathSink, portOffset, trace } from "../model/layout/route";
import type { Timeline } from "../model/timeline";

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Side of the finest cells of the edge grid, px. */
const CELL = 512;
/** An edge's port and swing may leave the box around its ends by this much, px. */
const SLACK = 76;

export class Picture {
  /** Per slot: index in the layout, -1 if it has no place; slots of one box share it. */
  readonly place: Int32Array;
  readonly bounds: Rect;
  /** 1 for union edges that are drawn as stubs: of hubs. */
  readonly stub: Uint8Array;
  /** Row at the top, and what the layout's x are moved by, px. */
  private readonly top: number;
  private readonly left: number;
  private readonly rowFirst: Int32Array;
  /** Slots by row, then by x. */
  private readonly byRow: Int32Array;
  private readonly box: Float32Array;
  private readonly grid: Map<number, number[]>[] = [];

  constructor(
    readonly timeline: Timeline,
    readonly slots: Int32Array,
    readonly layout: Layout,
    readonly pitch: number,
    /** Pictures of one world lie in the same coordinates. */
    readonly world: object = {},
    readonly fold: Fold | null = null,
  ) {
    this.place = new Int32Array(timeline.slots).fill(-1);
    for (const [s, i] of placesIn(slots, fold)) this.place[s] = i;
    const { left, top } = layout;
    this.left = left;
    this.top = top;
    this.bounds = {
      left: left - BOX_W / 2,
      top: top * pitch - BOX_H / 2,
      right: left + layout.width + BOX_W / 2,
      bottom: (top + Math.max(0, layout.rows - 1)) * pitch + BOX_H / 2,
    };
    for (const r of layout.rail) {
      if (left + r < this.bounds.left) this.bounds.left = left + r;
      if (left + r > this.bounds.right) this.bounds.right = left + r;
    }
    this.rowFirst = new Int32Array(layout.rows + 1);
    for (const r of layout.row) this.rowFirst[r + 1]!++;
    for (let r = 0; r < layout.rows; r++) this.rowFirst[r + 1]! += this.rowFirst[r]!;
    const order = Int32Array.from(slots, (_, i) => i);
    order.sort((a, b) => layout.row[a]! - layout.row[b]! || layout.x[a]! - layout.x[b]!);
    this.byRow = order.map((i) => slots[i]!);
    const edges = timeline.edgeSrc.length;
    this.stub = new Uint8Array(edges);
    this.box = new Float32Array(edges * 4);
    for (const head of slots)
      for (const s of membersAt(fold, head))
        for (let j = timeline.usersFirst[s]!; j < timeline.usersFirst[s + 1]!; j++)
          this.indexEdge(timeline.usersEdge[j]!);
  }

  has(slot: number): boolean {
    return this.place[slot]! >= 0;
  }

  x(slot: number): number {
    return this.left + this.layout.x[this.place[slot]!]!;
  }

  y(slot: number): number {
    return this.row(slot) * this.pitch;
  }

  row(slot: number): number {
    return this.top + this.layout.row[this.place[slot]!]!;
  }

  /** x of the rail of the slot's long edges, NaN without one. */
  rail(slot: number): number {
    return this.left + this.layout.rail[this.place[slot]!]!;
  }

  /** Calls back for every slot whose box touches the rectangle, by rows from left to right. */
  visit(rect: Rect, visitor: (slot: number) => void): void {
    const { layout, pitch, byRow, top } = this;
    const from = Math.max(0, Math.ceil((rect.top - BOX_H / 2) / pitch) - top);
    const to = Math.min(layout.rows - 1, Math.floor((rect.bottom + BOX_H / 2) / pitch) - top);
    for (let r = from; r <= to; r++) {
      const end = this.rowFirst[r + 1]!;
      for (let i = this.lowerBound(r, rect.left - BOX_W / 2); i < end; i++) {
        const s = byRow[i]!;
        if (this.x(s) > rect.right + BOX_W / 2) break;
        visitor(s);
      }
    }
  }

  /**
   * The slot whose box holds the point, -1 if none does. `grow` widens the boxes; of the slots
   * that share a place it is the one that `there` names.
   */
  at(x: number, y: number, grow: number, there: (slot: number) => boolean): number {
    const row = Math.round(y / this.pitch);
    const r = row - this.top;
    if (r < 0 || r >= this.layout.rows) return -1;
    if (Math.abs(y - row * this.pitch) > BOX_H / 2 + grow) return -1;
    const reach = BOX_W / 2 + grow;
    for (let i = this.lowerBound(r, x - reach); i < this.rowFirst[r + 1]!; i++) {
      const s = this.byRow[i]!;
      if (this.x(s) - x > reach) break;
      if (there(s)) return s;
    }
    return -1;
  }

  /** The slots of a row, left to right. */
  rowOf(row: number): Int32Array {
    const r = row - this.top;
    return this.byRow.subarray(this.rowFirst[r] ?? 0, this.rowFirst[r + 1] ?? 0);
  }

  /** Calls back for every drawn union edge whose course may touch the rectangle. */
  visitEdges(rect: Rect, visitor: (edge: number) => void): void {
    const { box } = this;
    const list = (edges: readonly number[]): void => {
      for (const e of edges) {
        const i = e * 4;
        if (box[i]! > rect.right || box[i + 2]! < rect.left) continue;
        if (box[i + 1]! > rect.bottom || box[i + 3]! < rect.top) continue;
        visitor(e);
      }
    };
    this.grid.forEach((cells, level) => {
      const size = CELL * 2 ** level;
      const x0 = Math.floor((rect.left - size / 2) / size);
      const x1 = Math.floor((rect.right + size / 2) / size);
      const y0 = Math.floor((rect.top - size / 2) / size);
      const y1 = Math.floor((rect.bottom + size / 2) / size);
      if ((x1 - x0 + 1) * (y1 - y0 + 1) >= cells.size) {
        for (const edges of cells.values()) list(edges);
        return;
      }
      for (let cx = x0; cx <= x1; cx++)
        for (let cy = y0; cy <= y1; cy++) {
          const edges = cells.get(cellKey(cx, cy));
          if (edges) list(edges);
        }
    });
  }

  /** Traces union edge `e`, which enters its user as source `port` of `ports`. */
  trace(out: PathSink, e: number, port: number, ports: number): void {
    const { timeline: t } = this;
    const a = t.edgeSrc[e]!;
    const b = t.edgeUser[e]!;
    trace(
      out,
      this.x(a),
      this.row(a),
      this.x(b) + portOffset(port, ports),
      this.row(b),
      this.rail(a),
      this.pitch,
    );
  }

  /** First index in row r whose centre is at or right of x. */
  private lowerBound(r: number, x: number): number {
    let lo = this.rowFirst[r]!;
    let hi = this.rowFirst[r + 1]!;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.x(this.byRow[mid]!) < x) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  private indexEdge(e: number): void {
    const { timeline: t, layout, place, box } = this;
    const source = t.edgeSrc[e]!;
    const user = t.edgeUser[e]!;
    const a = place[source]!;
    const b = place[user]!;
    if (a < 0 || b < 0 || !isDrawn(this.fold, source, user)) return;
    if (layout.hub[a]! & 1 || layout.hub[b]! & 2) {
      this.stub[e] = 1;
      return;
    }
    const rail = this.rail(source);
    const xs = [this.x(source), this.x(user)];
    if (!Number.isNaN(rail)) xs.push(rail);
    const ys = [this.y(source), this.y(user)];
    const left = Math.min(...xs) - SLACK;
    const right = Math.max(...xs) + SLACK;
    const top = Math.min(...ys) - SLACK;
    const bottom = Math.max(...ys) + SLACK;
    box.set([left, top, right, bottom], e * 4);
    const extent = Math.max(right - left, bottom - top);
    const level = Math.max(0, Math.ceil(Math.log2(extent / CELL)));
    while (this.grid.length <= level) this.grid.push(new Map<number, number[]>());
    const size = CELL * 2 ** level;
    const key = cellKey(
      Math.floor((left + right) / 2 / size),
      Math.floor((top + bottom) / 2 / size),
    );
    const cells = this.grid[level]!;
    const cell = cells.get(key);
    if (cell) cell.push(e);
    else cells.set(key, [e]);
  }
}

function cellKey(cx: number, cy: number): number {
  return (cx + 0x200000) * 0x400000 + (cy + 0x200000);
}

export function joinRects(rects: Iterable<Rect>): Rect | null {
  let all: Rect | null = null;
  for (const r of rects)
    all = all
      ? {
          left: Math.min(all.left, r.left),
          top: Math.min(all.top, r.top),
          right: Math.max(all.right, r.right),
          bottom: Math.max(all.bottom, r.bottom),
        }
      : { ...r };
  return all;
}
