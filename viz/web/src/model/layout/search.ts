/**
 * Local search for fewer crossings, for graphs small enough that a reader follows single edges.
 *
 * Moves nodes into free places of their row, and swaps neighbours that want to be the other way
 * round, where that lowers the number of crossings of the straight edges or their length. Looks
 * again only at nodes around which something has changed. Budgeted by operations and not by clock,
 * so that one graph always gets one picture. Never changes a row number and never lets boxes
 * overlap.
 */
import { Crossings, FAR, Meetings } from "./crossings";
import { HUB, type LayoutGraph } from "./graph";
import { COLUMN, type Rows } from "./order";

/** Above this many nodes the sweeps alone decide. */
const SEARCH_NODES = 3000;
const SEARCH_EDGES = 12_000;
/** Rows that all edges pass together: they are listed by row. */
const SEARCH_ROWS = 1_000_000;
/** Later rounds gain little. */
const ROUNDS = 2;
/** Pairs of edges looked at, about 25 ms; 1,271 nodes of a program take less than a third. */
const BUDGET = 1_500_000;
/** One crossing is worth this much horizontal length, px. */
const CROSSING = 200;
/** Free intervals of the row looked at on either side of the wanted place. */
const REACH = 3;
/** Places tried in each of them: the nearest ones to the wanted place and to these beside it. */
const BESIDE = [-COLUMN, 0, COLUMN];

export class LocalSearch {
  private readonly crossings: Crossings;
  /** The places in whole pixels. */
  private readonly x: Int32Array;
  /** What one node meets, and what the neighbour does that it may be swapped with. */
  private readonly met = new Meetings();
  private readonly metNext = new Meetings();
  /** Places in question for one node. */
  private readonly at = new Int32Array(BESIDE.length * (2 * REACH + 1));
  /** The neighbours' x of one node, in order. */
  private readonly near = new Int32Array(2 * HUB);

  constructor(
    g: LayoutGraph,
    row: Int32Array,
    private readonly rows: Rows,
    private readonly result: Float64Array,
    /** 1 for nodes that stay where they are. */
    private readonly fixed: Uint8Array | null,
  ) {
    this.x = Int32Array.from(result, Math.round);
    this.crossings = new Crossings(g, row, rows, this.x);
  }

  static fits(g: LayoutGraph, row: Int32Array): boolean {
    const { first, to } = g.nearUsers;
    if (g.n > SEARCH_NODES || to.length > SEARCH_EDGES) return false;
    let passed = 0;
    for (let v = 0; v < g.n; v++)
      for (let j = first[v]!; j < first[v + 1]!; j++) passed += row[to[j]!]! - row[v]!;
    return passed <= SEARCH_ROWS;
  }

  /** Rounds over all nodes until nothing gets better or the budget is spent. */
  *run(): Generator<number, void> {
    const { first } = this.rows;
    const { crossings } = this;
    const count = first.length - 1;
    let better = true;
    for (let round = 0; better && round < ROUNDS; round++) {
      better = false;
      for (let k = 0; k < count && crossings.looked < BUDGET; k++) {
        const r = round % 2 ? count - 1 - k : k;
        for (let i = first[r]!; i < first[r + 1]!; i++) if (this.improve(i, r)) better = true;
        if (k % 64 === 63) yield Math.min(1, crossings.looked / BUDGET);
      }
    }
    this.result.set(this.x);
  }

  /** Tries to better the node at place i, which is in row r. */
  private improve(i: number, r: number): boolean {
    const { nodes, first } = this.rows;
    const { stale } = this.crossings;
    const v = nodes[i]!;
    const changed = stale[v];
    stale[v] = 0;
    const jumped = changed ? this.jump(i, r) : false;
    const next = i + 1 < first[r + 1]!;
    return (next && (changed || stale[nodes[i + 1]!]) && this.swap(i)) || jumped;
  }

  /** Exchanges the nodes at places i and i + 1 of a row if they want that and it is better. */
  private swap(i: number): boolean {
    const { x, crossings, met, metNext } = this;
    const { nodes } = this.rows;
    const a = nodes[i]!;
    const b = nodes[i + 1]!;
    const left = x[a]!;
    const right = x[b]!;
    if (this.fixed?.[a] || this.fixed?.[b]) return false;
    if (this.median(a, left) <= this.median(b, right)) return false;
    crossings.meet(a, b, left, right, met);
    crossings.meet(b, a, left, right, metNext);
    const fewer =
      met.at(left) - met.at(right) + metNext.at(right) - metNext.at(left) + this.mutual(a, b);
    const shorter =
      this.length(a, left) - this.length(a, right) + this.length(b, right) - this.length(b, left);
    if (fewer * CROSSING + shorter <= 1) return false;
    crossings.move(a, right, met);
    crossings.move(b, left, metNext);
    nodes[i] = b;
    nodes[i + 1] = a;
    return true;
  }

  /** Crossings of edges of a with edges of b, its neighbour: now, less those after a swap. */
  private mutual(a: number, b: number): number {
    const { crossings } = this;
    const { above, edgeFirst, edgeOf } = crossings;
    let fewer = 0;
    for (let i = edgeFirst[a]!; i < edgeFirst[a + 1]!; i++)
      for (let j = edgeFirst[b]!; j < edgeFirst[b + 1]!; j++) {
        const e = edgeOf[i]!;
        const f = edgeOf[j]!;
        if ((above[e] === a) !== (above[f] === b)) continue;
        if (crossings.cross(e, f)) fewer++;
        if (crossings.crossSwapped(a, b, e, f)) fewer--;
      }
    return fewer;
  }

  /** Moves the node at place p of row r to the best free place near its neighbours. */
  private jump(p: number, r: number): boolean {
    const { x, at, met, crossings } = this;
    const v = this.rows.nodes[p]!;
    const old = x[v]!;
    if (this.fixed?.[v]) return false;
    const want = this.median(v, old);
    if (want === old) return false;
    const count = this.freePlaces(p, r, want);
    if (count === 0) return false;
    crossings.meet(v, -1, Math.min(old, at[0]!), Math.max(old, at[count - 1]!), met);
    const crossed = met.at(old);
    if (crossed === 0) return false;
    let least = crossed * CROSSING + this.length(v, old) - 1;
    let best = old;
    for (let i = 0; i < count; i++) {
      const cost = met.at(at[i]!) * CROSSING + this.length(v, at[i]!);
      if (cost >= least) continue;
      least = cost;
      best = at[i]!;
    }
    if (best === old) return false;
    crossings.move(v, best, met);
    this.reorder(p, r);
    return true;
  }

  /** Puts places that the others of row r leave to the node at place p into `at`, in order. */
  private freePlaces(p: number, r: number, want: number): number {
    const { x, at } = this;
    const { nodes, first } = this.rows;
    const from = first[r]!;
    const to = first[r + 1]!;
    let next = from;
    while (next < to && x[nodes[next]!]! < want) next++;
    let count = 0;
    for (let i = Math.max(from, next - REACH); i <= Math.min(to, next + REACH); i++) {
      if (i === p) continue;
      const before = i - 1 === p ? i - 2 : i - 1;
      const left = before >= from ? x[nodes[before]!]! + COLUMN : -FAR;
      const right = i < to ? x[nodes[i]!]! - COLUMN : FAR;
      if (right < left) continue;
      for (const beside of BESIDE) {
        const place = Math.max(left, Math.min(right, want + beside));
        if (count === 0 || place > at[count - 1]!) at[count++] = place;
      }
    }
    return count;
  }

  /** Puts the node at place p of row r where its x belongs. */
  private reorder(p: number, r: number): void {
    const { x } = this;
    const { nodes, first } = this.rows;
    const v = nodes[p]!;
    let q = p;
    for (; q > first[r]! && x[nodes[q - 1]!]! > x[v]!; q--) nodes[q] = nodes[q - 1]!;
    for (; q + 1 < first[r + 1]! && x[nodes[q + 1]!]! < x[v]!; q++) nodes[q] = nodes[q + 1]!;
    nodes[q] = v;
  }

  /** Horizontal length of the edges of v if it lies at `place`. */
  private length(v: number, place: number): number {
    const { x, crossings } = this;
    const { above, below, edgeFirst, edgeOf } = crossings;
    let sum = 0;
    for (let i = edgeFirst[v]!; i < edgeFirst[v + 1]!; i++) {
      const e = edgeOf[i]!;
      sum += Math.abs(x[above[e] === v ? below[e]! : above[e]!]! - place);
    }
    return sum;
  }

  /** Median x of the neighbours, `old` without any. */
  private median(v: number, old: number): number {
    const { x, near } = this;
    const { above, below, edgeFirst, edgeOf } = this.crossings;
    const start = edgeFirst[v]!;
    const count = edgeFirst[v + 1]! - start;
    if (count === 0) return old;
    for (let i = 0; i < count; i++) {
      const e = edgeOf[start + i]!;
      const place = x[above[e] === v ? below[e]! : above[e]!]!;
      let j = i;
      for (; j > 0 && near[j - 1]! > place; j--) near[j] = near[j - 1]!;
      near[j] = place;
    }
    const middle = count >> 1;
    return count % 2 ? near[middle]! : (near[middle - 1]! + near[middle]!) >> 1;
  }
}
