/**
 * Order and x of the nodes of every row.
 *
 * First x from a spanning tree (each node under its nearest user), then a fixed number of
 * sweeps: sort a row by the mean x of its neighbours and remove overlaps by pooling adjacent
 * violators (isotonic regression: Ayer et al., 1955). Never changes a node's row, never lets two
 * boxes of a row overlap, takes time near-linear in nodes and edges.
 */
import type { Adjacency, LayoutGraph } from "./graph";
import { COLUMN, fillGaps } from "./gaps";

export { COLUMN } from "./gaps";

export interface Rows {
  /** Row r holds `nodes[first[r]] .. nodes[first[r + 1] - 1]`, left to right. */
  first: Int32Array;
  nodes: Int32Array;
}

/**
 * Closes vertical bands that no box touches; orders and distances within rows stay, and so does
 * everything from the first to the last fixed node.
 */
export function closeGaps(x: Float64Array, fixed: Uint8Array | null): void {
  const order = Float64Array.from(x).sort();
  const kept = x.filter((_, v) => fixed?.[v]).sort();
  const [first, last] = kept.length ? [kept[0]!, kept.at(-1)!] : [Infinity, -Infinity];
  const shift = new Float64Array(order.length);
  for (let i = 1; i < order.length; i++) {
    const free = order[i]! <= first || order[i]! > last;
    shift[i] = shift[i - 1]! + (free ? Math.max(0, order[i]! - order[i - 1]! - COLUMN) : 0);
  }
  const stays = kept.length ? shift[order.indexOf(first)]! : 0;
  for (let v = 0; v < x.length; v++) {
    let lo = 0;
    let hi = order.length - 1;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (order[mid]! < x[v]!) lo = mid + 1;
      else hi = mid;
    }
    x[v]! -= shift[lo]! - stays;
  }
}

/** Groups nodes by row, in index order. */
export function rowsOf(row: Int32Array): Rows {
  let count = 0;
  for (const r of row) count = Math.max(count, r + 1);
  const first = new Int32Array(count + 1);
  for (const r of row) first[r + 1]!++;
  for (let r = 0; r < count; r++) first[r + 1]! += first[r]!;
  const at = first.slice(0, count);
  const nodes = new Int32Array(row.length);
  for (let v = 0; v < row.length; v++) nodes[at[row[v]!]!++] = v;
  return { first, nodes };
}

/** x from a walk of the tree in which each node hangs under its nearest user. */
export function treeX(g: LayoutGraph, row: Int32Array): Float64Array {
  const { n, nearUsers, nearSrcs } = g;
  const parent = new Int32Array(n).fill(-1);
  for (let v = 0; v < n; v++)
    for (let j = nearUsers.first[v]!; j < nearUsers.first[v + 1]!; j++) {
      const u = nearUsers.to[j]!;
      if (parent[v]! < 0 || row[u]! < row[parent[v]!]!) parent[v] = u;
    }
  const key = new Float64Array(n);
  for (let u = 0; u < n; u++)
    for (let j = nearSrcs.first[u]!; j < nearSrcs.first[u + 1]!; j++) {
      const s = nearSrcs.to[j]!;
      if (parent[s] === u) key[s] = j;
    }
  const x = new Float64Array(n);
  walkTree(parent, key, x);
  // Second walk: children in the order in which their other neighbours came out.
  for (let v = 0; v < n; v++) {
    let sum = 0;
    let count = 0;
    for (let j = nearUsers.first[v]!; j < nearUsers.first[v + 1]!; j++) {
      const u = nearUsers.to[j]!;
      if (u === parent[v]) continue;
      sum += x[u]!;
      count++;
    }
    for (let j = nearSrcs.first[v]!; j < nearSrcs.first[v + 1]!; j++) {
      const u = nearSrcs.to[j]!;
      if (parent[u] === v) continue;
      sum += x[u]!;
      count++;
    }
    key[v] = count ? sum / count : x[v]!;
  }
  walkTree(parent, key, x);
  return x;
}

/** Leaves get the next free column, a parent the middle of its first and last leaf. */
function walkTree(parent: Int32Array, key: Float64Array, x: Float64Array): void {
  const n = parent.length;
  const first = new Int32Array(n + 2); // list n: the roots
  for (let v = 0; v < n; v++) first[(parent[v]! < 0 ? n : parent[v]!) + 1]!++;
  for (let v = 0; v <= n; v++) first[v + 1]! += first[v]!;
  const at = first.slice(0, n + 1);
  const child = new Int32Array(n);
  for (let v = 0; v < n; v++) child[at[parent[v]! < 0 ? n : parent[v]!]!++] = v;
  for (let p = 0; p <= n; p++) sortRange(child, first[p]!, first[p + 1]!, key);
  const next = first.slice(0, n + 1);
  const left = new Float64Array(n);
  const path = new Int32Array(n + 1);
  let leaves = 0;
  for (let r = first[n]!; r < first[n + 1]!; r++) {
    let depth = 0;
    path[0] = child[r]!;
    left[path[0]] = leaves;
    while (depth >= 0) {
      const v = path[depth]!;
      if (next[v]! < first[v + 1]!) {
        const c = child[next[v]!++]!;
        left[c] = leaves;
        path[++depth] = c;
        continue;
      }
      if (first[v] === first[v + 1]) leaves++;
      x[v] = ((left[v]! + leaves - 1) / 2) * COLUMN;
      depth--;
    }
  }
}

/** Rows up to this long are sorted by insertion, longer ones in blocks that are merged. */
const BLOCK = 24;

/** Sorts `list[from..to-1]` by key; equal keys keep their order. */
export function sortRange(list: Int32Array, from: number, to: number, key: Float64Array): void {
  for (let start = from; start < to; start += BLOCK)
    insertionSort(list, start, Math.min(to, start + BLOCK), key);
  if (to - from <= BLOCK) return;
  const spare = new Int32Array(to - from);
  for (let size = BLOCK; size < to - from; size *= 2)
    for (let start = from; start + size < to; start += 2 * size)
      merge(list, start, start + size, Math.min(to, start + 2 * size), key, spare);
}

function insertionSort(list: Int32Array, from: number, to: number, key: Float64Array): void {
  for (let i = from + 1; i < to; i++) {
    const v = list[i]!;
    let j = i - 1;
    while (j >= from && key[list[j]!]! > key[v]!) {
      list[j + 1] = list[j]!;
      j--;
    }
    list[j + 1] = v;
  }
}

/** Merges two sorted parts that lie side by side; most often they are in order already. */
function merge(
  list: Int32Array,
  from: number,
  middle: number,
  to: number,
  key: Float64Array,
  spare: Int32Array,
): void {
  if (key[list[middle - 1]!]! <= key[list[middle]!]!) return;
  const count = middle - from;
  for (let i = 0; i < count; i++) spare[i] = list[from + i]!;
  let i = 0;
  let j = middle;
  let next = from;
  while (i < count)
    list[next++] = j < to && key[list[j]!]! < key[spare[i]!]! ? list[j++]! : spare[i++]!;
}

/** The x nearest to what the nodes of a row want, at least `COLUMN` apart, in their order. */
class Spreader {
  private readonly value: Float64Array;
  private readonly size: Int32Array;

  constructor(longestRow: number) {
    this.value = new Float64Array(longestRow);
    this.size = new Int32Array(longestRow);
  }

  spread(
    nodes: Int32Array,
    from: number,
    to: number,
    want: Float64Array,
    x: Float64Array,
  ): void {
    const { value, size } = this;
    let blocks = 0;
    for (let i = from; i < to; i++) {
      const v = nodes[i]!;
      value[blocks] = want[v]! - (i - from) * COLUMN;
      size[blocks] = 1;
      while (blocks > 0 && value[blocks - 1]! > value[blocks]!) {
        const both = size[blocks - 1]! + size[blocks]!;
        value[blocks - 1] =
          (value[blocks - 1]! * size[blocks - 1]! + value[blocks]! * size[blocks]!) / both;
        size[blocks - 1] = both;
        blocks--;
      }
      blocks++;
    }
    let i = from;
    for (let b = 0; b < blocks; b++)
      for (let k = 0; k < size[b]!; k++, i++) x[nodes[i]!] = value[b]! + (i - from) * COLUMN;
  }
}

type Side = "users" | "sources" | "both";

/** One pass over the rows: upwards after the users' x, downwards after the sources'. */
export class Sweeper {
  private readonly spreader: Spreader;
  private readonly want: Float64Array;
  private readonly pull: Float64Array;
  /** 1 for a node without drawn edges, which goes by those that are not drawn. */
  private readonly lone: Uint8Array;
  private readonly users: readonly [Adjacency, Adjacency];
  private readonly srcs: readonly [Adjacency, Adjacency];

  constructor(
    g: LayoutGraph,
    private readonly rows: Rows,
    private readonly x: Float64Array,
    /** 1 for nodes that keep their x. */
    private readonly fixed: Uint8Array | null,
  ) {
    let longest = 1;
    for (let r = 0; r + 1 < rows.first.length; r++)
      longest = Math.max(longest, rows.first[r + 1]! - rows.first[r]!);
    this.spreader = new Spreader(longest);
    this.want = new Float64Array(g.n);
    // A node with many neighbours says little about where one of them belongs.
    this.pull = new Float64Array(g.n);
    this.lone = new Uint8Array(g.n);
    this.users = [g.nearUsers, g.users];
    this.srcs = [g.nearSrcs, g.srcs];
    for (let v = 0; v < g.n; v++) {
      const degree = this.degree(g.nearSrcs, v) + this.degree(g.nearUsers, v);
      this.pull[v] = 1 / Math.sqrt(Math.max(1, degree - 2));
      if (degree === 0) this.lone[v] = 1;
    }
  }

  sweep(up: boolean, side: Side, sort: boolean): void {
    const count = this.rows.first.length - 1;
    for (let k = 0; k < count; k++) this.sweepRow(up ? count - 1 - k : k, side, sort);
  }

  private sweepRow(r: number, side: Side, sort: boolean): void {
    const { rows, x, want } = this;
    const from = rows.first[r]!;
    const to = rows.first[r + 1]!;
    for (let i = from; i < to; i++) want[rows.nodes[i]!] = this.wanted(rows.nodes[i]!, side);
    if (sort) sortRange(rows.nodes, from, to, want);
    if (this.fixed) {
      fillGaps(rows.nodes.subarray(from, to), want, x, this.fixed);
      sortRange(rows.nodes, from, to, x);
    } else this.spreader.spread(rows.nodes, from, to, want, x);
  }

  private degree(list: Adjacency, v: number): number {
    return list.first[v + 1]! - list.first[v]!;
  }

  /** Mean x of the neighbours; of all users, drawn or not, for a node without drawn edges. */
  private wanted(v: number, side: Side): number {
    const { x, pull } = this;
    const lone = this.lone[v]!;
    const users = this.users[lone]!;
    const srcs = this.srcs[lone]!;
    let sum = 0;
    let weight = 0;
    if (lone || side !== "sources")
      for (let j = users.first[v]!; j < users.first[v + 1]!; j++) {
        const u = users.to[j]!;
        sum += x[u]! * pull[u]!;
        weight += pull[u]!;
      }
    if (lone || side !== "users")
      for (let j = srcs.first[v]!; j < srcs.first[v + 1]!; j++) {
        const u = srcs.to[j]!;
        sum += x[u]! * pull[u]!;
        weight += pull[u]!;
      }
    return weight > 0 ? sum / weight : x[v]!;
  }
}
