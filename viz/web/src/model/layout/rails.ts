/**
 * Rails: where long edges run down between the boxes.
 *
 * Edges of one source that pass other rows share one vertical rail, so an edge has at most two
 * bends and no dummy nodes are needed. The rail's x is the candidate that runs through the fewest
 * boxes, then the one with the shortest way. Never moves a node.
 */
import { HUB, type LayoutGraph } from "./graph";
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
/** Rows in which the boxes on a rail are counted; more are sampled evenly. */
const ROWS_SEEN = 100;
/** Rows of which the lanes beside the boxes are tried. */
const ROWS_TRIED = 40;
/** Places tried for a rail: many where a reader follows single edges, few in large graphs. */
const CANDIDATES = 48;
const FEW_CANDIDATES = 24;
const MANY_NODES = 3000;
/** Users right above which a rail is tried. */
const USERS_TRIED = 4;
/** Boxes beside the one in the way that are tried as well. */
const REACH = 3;
/** A box hit is worth this much way, px. */
const HIT = 1200;
/** A rail with less way than this and no hit is taken without trying others, px. */
const GOOD = 2 * COLUMN;

/** x of the rail of each node, NaN where it has none; `x` in whole pixels. */
export function rails(
  g: LayoutGraph,
  row: Int32Array,
  rows: Rows,
  x: Int32Array,
): Float64Array {
  const rail = new Float64Array(g.n).fill(NaN);
  const lanes = new Lanes();
  const search = new RailSearch(g, row, rows, x);
  for (let v = 0; v < g.n; v++) {
    const last = search.lastRow(v);
    if (last) rail[v] = lanes.take(search.best(v, last), row[v]! + 1, last);
  }
  return rail;
}

/** Finds the best x for the rail of one node after the other. */
class RailSearch {
  private readonly candidate = new Int32Array(CANDIDATES);
  private candidates = 0;
  private readonly most: number;
  /** The long edges' users of the present node. */
  private readonly users: Int32Array;
  private count = 0;

  constructor(
    private readonly g: LayoutGraph,
    private readonly row: Int32Array,
    private readonly rows: Rows,
    private readonly x: Int32Array,
  ) {
    this.most = g.n > MANY_NODES ? FEW_CANDIDATES : CANDIDATES;
    this.users = new Int32Array(HUB);
  }

  /** Collects the users of v's long edges; the row of the lowest, 0 without any. */
  lastRow(v: number): number {
    const { row, users } = this;
    const { first, to } = this.g.nearUsers;
    let last = 0;
    this.count = 0;
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = to[j]!;
      if (row[u]! - row[v]! < RAIL_SPAN) continue;
      users[this.count++] = u;
      if (row[u]! > last) last = row[u]!;
    }
    return last;
  }

  /** The best x for the rail of v, whose users are collected. */
  best(v: number, last: number): number {
    const { x, users, candidate, count } = this;
    const from = this.row[v]! + 1;
    this.candidates = 0;
    this.offer(x[v]!);
    for (let i = 0; i < count && i < USERS_TRIED; i++) this.offer(x[users[i]!]!);
    const starts = this.candidates;
    let best = Infinity;
    let rail = x[v]!;
    for (let c = 0; c < this.candidates; c++) {
      const cost = this.cost(v, candidate[c]!, from, last, best);
      if (cost < best) {
        best = cost;
        rail = candidate[c]!;
      }
      if (c === starts - 1 && best >= GOOD) this.offerBeside(starts, from, last);
    }
    return rail;
  }

  /** What a rail at `c` costs, px; not counted to the end where that is more than `limit`. */
  private cost(v: number, c: number, from: number, last: number, limit: number): number {
    const { rows, x, users, count } = this;
    const step = Math.ceil((last - from) / ROWS_SEEN) || 1;
    let way = 0;
    for (let i = 0; i < count; i++) way += Math.abs(c - x[users[i]!]!);
    let cost = Math.abs(c - x[v]!) + way / count;
    for (let r = from; r < last && cost < limit; r += step) {
      const i = nearest(rows, r, x, c);
      if (i >= 0 && Math.abs(x[rows.nodes[i]!]! - c) < BOX_W / 2 + CLEAR) cost += HIT;
    }
    return cost;
  }

  private offer(c: number): void {
    const { candidate, candidates } = this;
    if (candidates >= this.most) return;
    for (let i = 0; i < candidates; i++) if (candidate[i] === c) return;
    candidate[this.candidates++] = c;
  }

  /** Offers the lanes beside the boxes in the way of the first candidates, near boxes first. */
  private offerBeside(starts: number, from: number, last: number): void {
    const { rows, x, candidate } = this;
    const step = Math.ceil((last - from) / ROWS_TRIED) || 1;
    for (let reach = 0; reach < REACH; reach++)
      for (let c = 0; c < starts; c++)
        for (let r = from; r < last; r += step) {
          if (this.candidates >= this.most) return;
          const i = nearest(rows, r, x, candidate[c]!);
          if (i < 0) continue;
          if (i - reach >= rows.first[r]!) this.offerSides(x[rows.nodes[i - reach]!]!);
          if (reach && i + reach < rows.first[r + 1]!)
            this.offerSides(x[rows.nodes[i + reach]!]!);
        }
  }

  private offerSides(box: number): void {
    this.offer(box - COLUMN / 2);
    this.offer(box + COLUMN / 2);
  }
}

/** Index in `rows.nodes` of the node of row r nearest to x, -1 in an empty row. */
export function nearest(
  rows: Rows,
  r: number,
  x: Int32Array | Float64Array,
  at: number,
): number {
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
  private readonly taken = new Map<number, number[]>();

  take(x: number, from: number, to: number): number {
    const base = Math.round(x / LANE);
    if (this.fits(base, from, to)) return x;
    if (this.fits(base + 1, from, to)) return x + LANE;
    if (this.fits(base - 1, from, to)) return x - LANE;
    return x;
  }

  /** Takes rows from..to of a lane if they are free. */
  private fits(lane: number, from: number, to: number): boolean {
    const spans = this.taken.get(lane);
    if (!spans) {
      this.taken.set(lane, [from, to]);
      return true;
    }
    if (spans.length >= 128) return false;
    for (let i = 0; i < spans.length; i += 2)
      if (to >= spans[i]! && spans[i + 1]! >= from) return false;
    spans.push(from, to);
    return true;
  }
}
