/**
 * The rows of a small graph with all that passes them: nodes, and the rails of long edges.
 *
 * Between two rows there are only segments, each from an item of the upper row to an item of the
 * lower one, where it enters a node at its port. All segments between two rows bend alike, so two of
 * them cross exactly if their ends are in opposite orders. Counts crossings for given orders; never
 * chooses one.
 */
import type { LayoutGraph } from "../graph";
import { RAIL_SPAN } from "../rails";

/** What lies between two rows: from item `above` to item `below`, `port` px from its middle. */
export interface Segment {
  above: number;
  below: number;
  port: number;
  /** First and last step that shows it. */
  from: number;
  to: number;
}

/** Two edges that no step shows together may cross if nothing else suffers. */
const NEVER_TOGETHER = 0.01;
/** Rails run straight down: two of them cannot change sides between two rows. */
export const RAILS_CROSSED = 1000;

export class Layers {
  /** Items of each row; those from `nodes` on are rails. */
  readonly rows: number[][] = [];
  /** Segments between row r and the next. */
  readonly gaps: Segment[][] = [];
  /** The rail of each node, -1 without one. */
  readonly railOf: Int32Array;
  /** Nodes and rails. */
  readonly items: number;

  constructor(
    g: LayoutGraph,
    readonly row: Int32Array,
  ) {
    const { first, to } = g.nearUsers;
    const count = row.reduce((a, b) => Math.max(a, b + 1), 0);
    for (let r = 0; r < count; r++) {
      this.rows.push([]);
      this.gaps.push([]);
    }
    row.forEach((r, v) => this.rows[r]!.push(v));
    this.railOf = new Int32Array(g.n).fill(-1);
    let items = g.n;
    for (let v = 0; v < g.n; v++) {
      const at = row[v]!;
      const edges: Segment[] = [];
      let last = 0;
      for (let j = first[v]!; j < first[v + 1]!; j++) {
        const below = to[j]!;
        const e = g.nearEdge[j]!;
        const segment = { above: v, below, port: g.port(e), ...g.seen(e) };
        if (row[below]! - at < RAIL_SPAN) this.gaps[at]!.push(segment);
        else edges.push(segment);
        if (row[below]! - at >= RAIL_SPAN) last = Math.max(last, row[below]!);
      }
      if (!edges.length) continue;
      const rail = (this.railOf[v] = items++);
      for (let r = at; r < last; r++) {
        if (r > at) this.rows[r]!.push(rail);
        const here = edges.filter((e) => row[e.below] === r + 1);
        for (const e of here) this.gaps[r]!.push({ ...e, above: rail });
        const on = edges.filter((e) => row[e.below]! > r + 1);
        if (!on.length) continue;
        const from = Math.min(...on.map((e) => e.from));
        const until = Math.max(...on.map((e) => e.to));
        this.gaps[r]!.push({ above: r > at ? rail : v, below: rail, port: 0, from, to: until });
      }
    }
    this.items = items;
  }

  isRail(item: number): boolean {
    return item >= this.row.length;
  }

  /** What each two segments between row r and the next cost if they cross: a square matrix. */
  weights(r: number): Float64Array {
    const gap = this.gaps[r]!;
    return Float64Array.from({ length: gap.length ** 2 }, (_, at) => {
      const e = gap[Math.floor(at / gap.length)]!;
      const f = gap[at % gap.length]!;
      const rails = [e, f].every((s) => this.isRail(s.above) && this.isRail(s.below));
      const together = e.from <= f.to && f.from <= e.to;
      return rails ? RAILS_CROSSED : together ? 1 : NEVER_TOGETHER;
    });
  }
}

/**
 * Weighted crossings of the segments between two rows.
 *
 * @param above place of each item in the upper row
 * @param below place of each item in the lower row
 * @param share of a place that a px of a port is: 1 where places are px
 */
export function crossed(
  gap: readonly Segment[],
  weights: Float64Array,
  above: Float64Array,
  below: Float64Array,
  share: number,
): number {
  let sum = 0;
  const size = gap.length;
  for (let i = 0; i < size; i++) {
    const e = gap[i]!;
    const a = above[e.above]!;
    const b = below[e.below]! + e.port * share;
    for (let j = i + 1; j < size; j++) {
      const f = gap[j]!;
      if ((above[f.above]! - a) * (below[f.below]! + f.port * share - b) < 0)
        sum += weights[i * size + j]!;
    }
  }
  return sum;
}
