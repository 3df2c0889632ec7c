/**
 * Rails: where long edges run down between the boxes.
 *
 * Edges of one source that pass other rows share one vertical rail, so an edge has at most two
 * bends and no dummy nodes are needed. The rail's x is the candidate that runs through the fewest
 * boxes, then the one with the shortest way. Never moves a node.
 */
import type { LayoutGraph } from "./graph";
import { COLUMN, type Rows } from "./order";

/** Width and height of a node's box, px. */
export const BOX_W = 132;
export const BOX_H = 34;
/** Edges that span this many rows or more take the rail of their source. */
export const RAIL_SPAN = 2;
/** Room kept between a rail and a box, px. */
const CLEAR = 7;
/** Rails in one lane keep this distance, px. */
const LANE = 6;
/** Rows looked at for one rail; more are sampled evenly. */
const ROWS_SEEN = 40;
/** Places tried for a rail: many where a reader follows single edges, few in large graphs. */
const CANDIDATES = 48;
const FEW_CANDIDATES = 24;
const MANY_NODES = 3000;
/** Boxes beside the one in the way that are tried as well. */
const REACH = 3;
/** A box hit is worth this much way, px. */
const HIT = 1200;
/** A rail with less way than this and no hit is taken without trying others, px. */
const GOOD = 2 * COLUMN;

/** x of the rail of each node, NaN where it has none. */
export function rails(
  g: LayoutGraph,
  row: Int32Array,
  rows: Rows,
  x: Float64Array,
): Float64Array {
  const rail = new Float64Array(g.n).fill(NaN);
  const lanes = new Lanes();
  const users: number[] = [];
  const candidates: number[] = [];
  const most = g.n > MANY_NODES ? FEW_CANDIDATES : CANDIDATES;
  const offer = (c: number): void => {
    if (candidates.length < most && !candidates.includes(c)) candidates.push(c);
  };
  for (let v = 0; v < g.n; v++) {
    users.length = 0;
    let last = 0;
    for (let j = g.nearUsers.first[v]!; j < g.nearUsers.first[v + 1]!; j++) {
      const u = g.nearUsers.to[j]!;
      if (row[u]! - row[v]! < RAIL_SPAN) continue;
      users.push(u);
      last = Math.max(last, row[u]!);
    }
    if (!users.length) continue;
    const from = row[v]! + 1;
    const step = Math.max(1, Math.ceil((last - from) / ROWS_SEEN));
    let best = Infinity;
    const weigh = (c: number): void => {
      let cost = Math.abs(c - x[v]!);
      for (const u of users) cost += Math.abs(c - x[u]!) / users.length;
      for (let r = from; r < last && cost < best; r += step) {
        const i = nearest(rows, r, x, c);
        if (i >= 0 && Math.abs(x[rows.nodes[i]!]! - c) < BOX_W / 2 + CLEAR) cost += HIT;
      }
      if (cost >= best) return;
      best = cost;
      rail[v] = c;
    };
    candidates.length = 0;
    offer(x[v]!);
    for (const u of users.slice(0, 4)) offer(x[u]!);
    const starts = candidates.slice();
    starts.forEach(weigh);
    if (best >= GOOD) {
      offerBeside(rows, x, starts, from, last, step, offer, () => candidates.length >= most);
      candidates.slice(starts.length).forEach(weigh);
    }
    rail[v] = lanes.take(rail[v]!, from, last);
  }
  return rail;
}

/** Offers the lanes beside the boxes that are in the way of `starts`, near boxes first. */
function offerBeside(
  rows: Rows,
  x: Float64Array,
  starts: readonly number[],
  from: number,
  last: number,
  step: number,
  offer: (c: number) => void,
  full: () => boolean,
): void {
  for (let reach = 0; reach < REACH; reach++)
    for (const start of starts)
      for (let r = from; r < last; r += step) {
        if (full()) return;
        const i = nearest(rows, r, x, start);
        if (i < 0) continue;
        for (const k of reach ? [i - reach, i + reach] : [i]) {
          if (k < rows.first[r]! || k >= rows.first[r + 1]!) continue;
          const c = x[rows.nodes[k]!]!;
          offer(c - COLUMN / 2);
          offer(c + COLUMN / 2);
        }
      }
}

/** Index in `rows.nodes` of the node of row r nearest to x, -1 in an empty row. */
export function nearest(rows: Rows, r: number, x: Float64Array, at: number): number {
  const from = rows.first[r]!;
  const to = rows.first[r + 1]!;
  if (from === to) return -1;
  let lo = from;
  let hi = to;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (x[rows.nodes[mid]!]! < at) lo = mid + 1;
    else hi = mid;
  }
  if (lo === to) return to - 1;
  if (lo > from && at - x[rows.nodes[lo - 1]!]! < x[rows.nodes[lo]!]! - at) return lo - 1;
  return lo;
}

/** Keeps rails that run beside each other a few pixels apart, as far as the lane is wide. */
class Lanes {
  private readonly taken = new Map<number, [number, number][]>();

  take(x: number, from: number, to: number): number {
    const base = Math.round(x / LANE);
    for (const offset of [0, 1, -1]) {
      const spans = this.taken.get(base + offset);
      if (!spans) {
        this.taken.set(base + offset, [[from, to]]);
        return x + offset * LANE;
      }
      if (spans.length < 64 && spans.every(([a, b]) => to < a || b < from)) {
        spans.push([from, to]);
        return x + offset * LANE;
      }
    }
    return x;
  }
}
