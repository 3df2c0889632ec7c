/**
 * Rows: every node is below all its sources.
 *
 * Late ranks (longest path to the sink), so that a leaf sits directly above its first user, then
 * a few passes that shorten edges. Never makes a row empty that the longest path needs.
 */
import type { LayoutGraph } from "./graph";

const TIGHTEN_PASSES = 4;

/** The row of each node, 0 at the top. */
export function ranks(g: LayoutGraph): Int32Array {
  const { n, users, topological } = g;
  const row = new Int32Array(n);
  let deepest = 0;
  for (let i = n - 1; i >= 0; i--) {
    const v = topological[i]!;
    let height = 0;
    for (let j = users.first[v]!; j < users.first[v + 1]!; j++)
      height = Math.max(height, row[users.to[j]!]! + 1);
    row[v] = height;
    deepest = Math.max(deepest, height);
  }
  for (let v = 0; v < n; v++) row[v] = deepest - row[v]!;
  tighten(g, row, null);
  return row;
}

/** Shortens edges by moving nodes, but not the fixed ones, between their sources and users. */
export function tighten(g: LayoutGraph, row: Int32Array, fixed: Uint8Array | null): void {
  const { n, users, srcs, topological } = g;
  // A node with more inputs than users shortens more than it lengthens by going up, and the
  // other way round; sources first when going up, users first when going down.
  const lowestSource = (v: number): number => {
    let low = -Infinity;
    for (let j = srcs.first[v]!; j < srcs.first[v + 1]!; j++)
      low = Math.max(low, row[srcs.to[j]!]!);
    return low;
  };
  const highestUser = (v: number): number => {
    let high = Infinity;
    for (let j = users.first[v]!; j < users.first[v + 1]!; j++)
      high = Math.min(high, row[users.to[j]!]!);
    return high;
  };
  for (let pass = 0; pass < TIGHTEN_PASSES; pass++) {
    for (let i = 0; i < n; i++) {
      const v = topological[i]!;
      if (fixed?.[v]) continue;
      const ins = srcs.first[v + 1]! - srcs.first[v]!;
      if (ins > users.first[v + 1]! - users.first[v]!) row[v] = lowestSource(v) + 1;
    }
    for (let i = n - 1; i >= 0; i--) {
      const v = topological[i]!;
      if (fixed?.[v]) continue;
      const outs = users.first[v + 1]! - users.first[v]!;
      if (outs > srcs.first[v + 1]! - srcs.first[v]!) row[v] = highestUser(v) - 1;
    }
  }
}
