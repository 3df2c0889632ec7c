/**
 * Rows around pins: some nodes have their rows already, the others are placed between them.
 *
 * What pinned nodes leave between them bounds the rows of the others. A pin that would make an
 * edge point up is not kept; the least important ones give way. Never moves a pin that is kept.
 */
import type { LayoutGraph } from "./graph";
import { ranks, tighten } from "./rank";

/** A row that a node should keep. */
export interface Pin {
  node: number;
  row: number;
}

/** Which pins can be kept together, and the rows that they leave to every node. */
export class Pinned {
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** 1 for nodes that keep their row. */
  readonly fixed: Uint8Array;
  /** Pins that cannot be kept beside the more important ones. */
  readonly loose: readonly Pin[];
  readonly kept: readonly Pin[];
  /** Index of each node in topological order. */
  private readonly order: Int32Array;

  /** @param pins the most important first */
  constructor(
    private readonly g: LayoutGraph,
    pins: readonly Pin[],
  ) {
    this.low = new Float64Array(g.n).fill(-Infinity);
    this.high = new Float64Array(g.n).fill(Infinity);
    this.fixed = new Uint8Array(g.n);
    this.order = new Int32Array(g.n);
    g.topological.forEach((v, i) => (this.order[v] = i));
    this.loose = pins.filter((p) => !this.pin(p));
    this.kept = pins.filter((p) => this.fixed[p.node]);
  }

  /** Rows of all nodes, any integers, each as near to the wanted one as the pins allow. */
  near(wanted: (v: number) => number): Int32Array {
    const { g, low, high } = this;
    const row = new Int32Array(g.n);
    for (const v of g.topological) {
      let at = Math.max(low[v]!, Math.min(high[v]!, wanted(v)));
      for (let j = g.srcs.first[v]!; j < g.srcs.first[v + 1]!; j++)
        at = Math.max(at, row[g.srcs.to[j]!]! + 1);
      row[v] = at;
    }
    return row;
  }

  /** Rows of all nodes as if there were no pins, moved and bent until they fit the pins. */
  rows(): Int32Array {
    const free = ranks(this.g);
    const shift = median(this.kept.map((p) => p.row - free[p.node]!));
    const row = this.near((v) => free[v]! + shift);
    tighten(this.g, row, this.fixed);
    return row;
  }

  /** Keeps a pin; false, and nothing has changed, if others do not allow it. */
  private pin({ node, row }: Pin): boolean {
    const { g, low, high, order } = this;
    if (row < low[node]! || row > high[node]!) return false;
    this.fixed[node] = 1;
    low[node] = high[node] = row;
    for (let i = order[node]!; i < g.n; i++) {
      const v = g.topological[i]!;
      for (let j = g.users.first[v]!; j < g.users.first[v + 1]!; j++) {
        const u = g.users.to[j]!;
        low[u] = Math.max(low[u]!, low[v]! + 1);
      }
    }
    for (let i = order[node]!; i >= 0; i--) {
      const v = g.topological[i]!;
      for (let j = g.srcs.first[v]!; j < g.srcs.first[v + 1]!; j++) {
        const s = g.srcs.to[j]!;
        high[s] = Math.min(high[s]!, high[v]! - 1);
      }
    }
    return true;
  }
}

/** The upper median, 0 of nothing. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
