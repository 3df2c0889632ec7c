/**
 * Shared places: nodes of one row that are never there at the same time may lie on one spot.
 *
 * The union of all steps of a pass holds every node that ever was, most of them for a few steps;
 * side by side they make the picture wide and the way from one change to the next long. So each
 * row is coloured by lifetimes (greedy interval colouring, earliest first): of the free spots a
 * node takes the one whose nodes share most users and sources with it, or else any. Edges lead to
 * lower rows only, so merging within a row closes no cycle. Never merges two nodes that one step
 * shows, and never moves one that survives.
 */
import { type LayoutGraph, layoutGraph, type Lifetimes } from "./graph";

export interface Places {
  /** Spot of each node. */
  of: Int32Array;
  /** The graph of the spots, and the row of each. */
  graph: LayoutGraph;
  row: Int32Array;
}

/** Relatives looked at per node: those of a hub say little. */
const LOOKED_AT = 400;
/** After all steps. */
const NEVER = 0x7fffffff;

/** Gives every node a spot; nodes with overlapping lifetimes never get the same one. */
export function sharePlaces(g: LayoutGraph, row: Int32Array, life: Lifetimes): Places {
  const spots = new Spots(g, row, life);
  const order = Int32Array.from(row, (_, v) => v);
  order.sort((a, b) => row[b]! - row[a]! || life.from[a]! - life.from[b]! || a - b);
  for (const v of order) spots.place(v);
  const { of, rowOf } = spots;
  const src: number[] = [];
  const user: number[] = [];
  const edge: number[] = [];
  for (let v = 0; v < g.n; v++)
    for (let j = g.users.first[v]!; j < g.users.first[v + 1]!; j++) {
      src.push(of[v]!);
      user.push(of[g.users.to[j]!]!);
      edge.push(g.edge[j]!);
    }
  const seen = edge.map((e) => g.seen(e));
  const graph = layoutGraph({
    n: rowOf.length,
    src: Int32Array.from(src),
    user: Int32Array.from(user),
    port: Int32Array.from(edge, (e) => g.port(e)),
    seen: { from: Int32Array.from(seen, (s) => s.from), to: Int32Array.from(seen, (s) => s.to) },
  });
  return { of, graph, row: Int32Array.from(rowOf) };
}

class Spots {
  readonly of: Int32Array;
  readonly rowOf: number[] = [];
  /** Per spot: its nodes, and the last step in which one of them is seen. */
  private readonly members: number[][] = [];
  private readonly end: Int32Array;
  /** Per row: the first step by whose end some node is gone. */
  private readonly gone: Int32Array;
  /** Per spot: relatives found for the present node; and the spots that have any. */
  private readonly common: Int32Array;
  private readonly related: number[] = [];
  private left = 0;

  constructor(
    private readonly g: LayoutGraph,
    private readonly row: Int32Array,
    private readonly life: Lifetimes,
  ) {
    this.of = new Int32Array(g.n).fill(-1);
    this.end = new Int32Array(g.n);
    this.gone = new Int32Array(g.n).fill(NEVER);
    this.common = new Int32Array(g.n);
  }

  place(v: number): void {
    const { of, rowOf, row, members, end, gone, life } = this;
    const r = row[v]!;
    // Most nodes are there from the start, before any spot of theirs is free.
    let spot = gone[r]! < life.from[v]! ? this.nearest(v) : -1;
    if (spot < 0) {
      spot = rowOf.length;
      rowOf.push(r);
      members.push([]);
    }
    of[v] = spot;
    members[spot]!.push(v);
    end[spot] = life.to[v]!;
    gone[r] = Math.min(gone[r]!, life.to[v]!);
  }

  /** The free spot that has most in common with v, -1 if none is free. */
  private nearest(v: number): number {
    const { g, of, members, common, related } = this;
    this.left = LOOKED_AT;
    // What has the same users, or users that share a spot; then what has the same sources.
    for (let i = g.users.first[v]!; i < g.users.first[v + 1]!; i++)
      for (const u of members[of[g.users.to[i]!]!]!)
        for (let j = g.srcs.first[u]!; j < g.srcs.first[u + 1]! && this.left > 0; j++)
          this.meet(v, g.srcs.to[j]!);
    for (let i = g.srcs.first[v]!; i < g.srcs.first[v + 1]!; i++) {
      const s = g.srcs.to[i]!;
      for (let j = g.users.first[s]!; j < g.users.first[s + 1]! && this.left > 0; j++)
        this.meet(v, g.users.to[j]!);
    }
    let best = -1;
    for (const spot of related)
      if (best < 0 || common[spot]! > common[best]! || (common[spot] === common[best] && spot < best))
        best = spot;
    for (const spot of related) common[spot] = 0;
    related.length = 0;
    return best < 0 ? this.free(v) : best;
  }

  /** A spot of the row that is free by now, -1 if there is none. */
  private free(v: number): number {
    for (let p = this.rowOf.length - 1; p >= 0 && this.rowOf[p] === this.row[v]; p--)
      if (this.end[p]! < this.life.from[v]!) return p;
    return -1;
  }

  /** Counts what `v` has in common with the spot of another node, if that spot is free for it. */
  private meet(v: number, other: number): void {
    this.left--;
    const spot = this.of[other]!;
    if (spot < 0 || this.row[other] !== this.row[v]) return;
    if (this.end[spot]! >= this.life.from[v]!) return;
    if (this.common[spot]!++ === 0) this.related.push(spot);
  }
}
