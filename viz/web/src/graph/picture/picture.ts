/**
 * Where everything is: the places of the slots and the courses of the edges of one layout.
 *
 * Answers what a rectangle or a point holds, by rows and by a grid of edges, so that the cost of
 * a frame is that of what is visible. Never changes once made: stepping moves nothing. Pictures of
 * one world have what two neighbouring steps draw at the same place.
 */
import { isDrawn, placesIn } from "../../model/around/around";
import { type Fold, membersAt } from "../../model/fold/fold";
import { BOX_H, BOX_W, type Layout } from "../../model/layered";
import { type PathSink, portOffset, trace } from "../../model/layout/route";
import type { Timeline } from "../../model/timeline";
import { EdgeGrid } from "./edgeGrid";
import type { Rect } from "../view/rect";

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
  /** The edges drawn as lines; made when they are first asked for, as pages never do. */
  private lines: EdgeGrid | null = null;

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
    this.stub = new Uint8Array(timeline.edgeSrc.length);
    for (const e of this.edges()) if (this.isStub(e)) this.stub[e] = 1;
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
    if (!this.lines) {
      this.lines = new EdgeGrid();
      for (const e of this.edges()) if (!this.stub[e]) this.lines.add(e, this.around(e));
    }
    this.lines.visit(rect, visitor);
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

  /** The union edges that are drawn, as lines or as stubs. */
  private *edges(): Generator<number> {
    const { timeline: t, slots, place, fold } = this;
    for (const head of slots)
      for (const s of membersAt(fold, head))
        for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
          const e = t.usersEdge[j]!;
          const user = t.edgeUser[e]!;
          if (place[user]! >= 0 && isDrawn(fold, s, user)) yield e;
        }
  }

  private isStub(e: number): boolean {
    const { timeline: t, layout, place } = this;
    const source = layout.hub[place[t.edgeSrc[e]!]!]!;
    const user = layout.hub[place[t.edgeUser[e]!]!]!;
    return (source & 1) !== 0 || (user & 2) !== 0;
  }

  /** What the course of an edge stays within. */
  private around(e: number): Rect {
    const { timeline: t } = this;
    const source = t.edgeSrc[e]!;
    const user = t.edgeUser[e]!;
    const rail = this.rail(source);
    const xs = [this.x(source), this.x(user)];
    if (!Number.isNaN(rail)) xs.push(rail);
    const ys = [this.y(source), this.y(user)];
    return {
      left: Math.min(...xs) - SLACK,
      right: Math.max(...xs) + SLACK,
      top: Math.min(...ys) - SLACK,
      bottom: Math.max(...ys) + SLACK,
    };
  }
}
