/**
 * Local search for fewer crossings, for graphs small enough that a reader follows single edges.
 *
 * Swaps neighbours in a row and moves nodes into free places of their row where that lowers the
 * number of crossings of the straight edges (true crossings, over all rows that they share), then
 * their length. Budgeted by operations and not by clock, so that one graph always gets one
 * picture. Never changes a row number and never lets boxes overlap.
 */
import type { LayoutGraph } from "./graph";
import { COLUMN, type Rows } from "./order";

/** Above this many nodes the sweeps alone decide. */
export const SEARCH_NODES = 3000;
const SEARCH_EDGES = 12_000;
/** Pairs of edges looked at, about 25 ms. */
const BUDGET = 5_000_000;
const ROUNDS = 8;
/** One crossing is worth this much horizontal length, px. */
const CROSSING = 900;

export class LocalSearch {
  private readonly above: Int32Array;
  private readonly below: Int32Array;
  /** Edges by the gap under a row: gap r is between rows r and r + 1. */
  private readonly gapFirst: Int32Array;
  private readonly gapEdge: Int32Array;
  private readonly edgeFirst: Int32Array;
  private readonly edgeOf: Int32Array;
  private readonly seen: Int32Array;
  private readonly place: Int32Array;
  private stamp = 0;
  private spent = 0;
  /** Crossings found by the last `cost`. */
  private crossed = 0;

  constructor(
    g: LayoutGraph,
    private readonly row: Int32Array,
    private readonly rows: Rows,
    private readonly x: Float64Array,
  ) {
    const m = g.nearUsers.to.length;
    this.above = new Int32Array(m);
    this.below = g.nearUsers.to;
    const count = rows.first.length;
    this.gapFirst = new Int32Array(count + 1);
    this.edgeFirst = new Int32Array(g.n + 1);
    for (let v = 0; v < g.n; v++)
      for (let e = g.nearUsers.first[v]!; e < g.nearUsers.first[v + 1]!; e++) {
        this.above[e] = v;
        this.edgeFirst[v + 1]!++;
        this.edgeFirst[this.below[e]! + 1]!++;
        for (let r = row[v]!; r < row[this.below[e]!]!; r++) this.gapFirst[r + 1]!++;
      }
    for (let r = 0; r < count; r++) this.gapFirst[r + 1]! += this.gapFirst[r]!;
    for (let v = 0; v < g.n; v++) this.edgeFirst[v + 1]! += this.edgeFirst[v]!;
    this.gapEdge = new Int32Array(this.gapFirst[count]!);
    this.edgeOf = new Int32Array(2 * m);
    const gapAt = this.gapFirst.slice();
    const edgeAt = this.edgeFirst.slice();
    for (let e = 0; e < m; e++) {
      const a = this.above[e]!;
      const b = this.below[e]!;
      this.edgeOf[edgeAt[a]!++] = e;
      this.edgeOf[edgeAt[b]!++] = e;
      for (let r = row[a]!; r < row[b]!; r++) this.gapEdge[gapAt[r]!++] = e;
    }
    this.seen = new Int32Array(m);
    this.place = new Int32Array(g.n);
    for (let r = 0; r + 1 < rows.first.length; r++) this.renumber(r);
  }

  static fits(g: LayoutGraph): boolean {
    return g.n <= SEARCH_NODES && g.nearUsers.to.length <= SEARCH_EDGES;
  }

  /** Rounds over all nodes until nothing gets better or the budget is spent. */
  *run(): Generator<number, void> {
    const count = this.rows.first.length - 1;
    for (let round = 0; round < ROUNDS && this.spent < BUDGET; round++) {
      let better = false;
      for (let k = 0; k < count && this.spent < BUDGET; k++) {
        const r = round % 2 ? count - 1 - k : k;
        const from = this.rows.first[r]!;
        const to = this.rows.first[r + 1]!;
        for (let i = from; i < to; i++) {
          if (this.jump(this.rows.nodes[i]!, r)) better = true;
          if (i + 1 < to && this.swap(i)) better = true;
        }
        if (k % 64 === 63) yield Math.min(1, this.spent / BUDGET);
      }
      if (!better) return;
    }
  }

  private renumber(r: number): void {
    for (let i = this.rows.first[r]!; i < this.rows.first[r + 1]!; i++)
      this.place[this.rows.nodes[i]!] = i;
  }

  /** x of edge e at row r, on the straight line between its ends. */
  private at(e: number, r: number): number {
    const a = this.above[e]!;
    const b = this.below[e]!;
    const ra = this.row[a]!;
    const t = (r - ra) / (this.row[b]! - ra);
    return this.x[a]! + (this.x[b]! - this.x[a]!) * t;
  }

  /** Crossings of the edges of v with all others, in px, plus the length of its edges. */
  private cost(v: number): number {
    const { row, x, above, below, gapFirst, gapEdge, seen } = this;
    let crossings = 0;
    let length = 0;
    for (let i = this.edgeFirst[v]!; i < this.edgeFirst[v + 1]!; i++) {
      const e = this.edgeOf[i]!;
      const a = above[e]!;
      const b = below[e]!;
      const ra = row[a]!;
      const rb = row[b]!;
      length += Math.abs(x[a]! - x[b]!);
      const low = Math.min(x[a]!, x[b]!);
      const high = Math.max(x[a]!, x[b]!);
      const mark = ++this.stamp;
      for (let r = ra; r < rb; r++) {
        const end = gapFirst[r + 1]!;
        this.spent += end - gapFirst[r]!;
        for (let j = gapFirst[r]!; j < end; j++) {
          const f = gapEdge[j]!;
          if (seen[f] === mark) continue;
          seen[f] = mark;
          const fa = above[f]!;
          const fb = below[f]!;
          if (fa === a || fb === b || fa === b || fb === a) continue;
          if (Math.max(x[fa]!, x[fb]!) <= low || Math.min(x[fa]!, x[fb]!) >= high) continue;
          const top = Math.max(ra, row[fa]!);
          const bottom = Math.min(rb, row[fb]!);
          const left = this.at(e, top) - this.at(f, top);
          const right = this.at(e, bottom) - this.at(f, bottom);
          if (left * right < 0) crossings++;
        }
      }
    }
    this.crossed = crossings;
    return crossings * CROSSING + length;
  }

  /** Exchanges the nodes at places i and i + 1 of a row if that is better. */
  private swap(i: number): boolean {
    const { nodes } = this.rows;
    const a = nodes[i]!;
    const b = nodes[i + 1]!;
    const costA = this.cost(a);
    const crossed = this.crossed;
    const before = costA + this.cost(b);
    if (crossed + this.crossed === 0) return false;
    const ax = this.x[a]!;
    this.x[a] = this.x[b]!;
    this.x[b] = ax;
    const after = this.cost(a) + this.cost(b);
    if (after < before - 1) {
      nodes[i] = b;
      nodes[i + 1] = a;
      this.place[a] = i + 1;
      this.place[b] = i;
      return true;
    }
    this.x[b] = this.x[a]!;
    this.x[a] = ax;
    return false;
  }

  /** Moves v to the best free place of its row near its neighbours. */
  private jump(v: number, r: number): boolean {
    const { nodes, first } = this.rows;
    const from = first[r]!;
    const to = first[r + 1]!;
    const old = this.x[v]!;
    const want = this.median(v, old);
    if (Math.abs(want - old) < 1) return false;
    let best = this.cost(v);
    if (this.crossed === 0) return false;
    let bestX = old;
    const p = this.place[v]!;
    // Free intervals left by the others, walked outwards from the wanted x.
    const tryAt = (left: number, right: number): void => {
      if (right < left) return;
      const x = Math.max(left, Math.min(right, want));
      this.x[v] = x;
      const c = this.cost(v);
      if (c < best - 1) {
        best = c;
        bestX = x;
      }
    };
    let lo = from;
    let hi = to;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.x[nodes[mid]!]! < want) lo = mid + 1;
      else hi = mid;
    }
    for (let k = Math.max(from, lo - 3); k <= Math.min(to, lo + 3); k++) {
      let l = k - 1;
      let h = k;
      if (l === p) l--;
      if (h === p) h++;
      const left = l >= from ? this.x[nodes[l]!]! + COLUMN : -Infinity;
      const right = h < to ? this.x[nodes[h]!]! - COLUMN : Infinity;
      this.x[v] = old;
      tryAt(left, right);
      if (this.spent >= BUDGET) break;
    }
    this.x[v] = bestX;
    if (bestX === old) return false;
    let q = p;
    while (q > from && this.x[nodes[q - 1]!]! > bestX) nodes[q] = nodes[--q]!;
    while (q + 1 < to && this.x[nodes[q + 1]!]! < bestX) nodes[q] = nodes[++q]!;
    nodes[q] = v;
    this.renumber(r);
    return true;
  }

  /** Median x of the neighbours, `old` without any. */
  private median(v: number, old: number): number {
    const xs: number[] = [];
    for (let i = this.edgeFirst[v]!; i < this.edgeFirst[v + 1]!; i++) {
      const e = this.edgeOf[i]!;
      xs.push(this.x[this.above[e] === v ? this.below[e]! : this.above[e]!]!);
    }
    if (!xs.length) return old;
    xs.sort((a, b) => a - b);
    const m = xs.length >> 1;
    return xs.length % 2 ? xs[m]! : (xs[m - 1]! + xs[m]!) / 2;
  }
}
