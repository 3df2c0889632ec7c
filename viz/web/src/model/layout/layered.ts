/**
 * Layered top-down layout: sources above users, one row per rank.
 *
 * Puts the parts together: graph, rows, shared places, order, local search, rails. Deterministic,
 * without recursion, near-linear in nodes and edges. Yields between the parts, so that it can run
 * in a worker with progress or in slices on the main thread. Never looks at a clock.
 */
import { type LayoutGraph, layoutGraph, type LayoutInput } from "./graph";
import { closeGaps, rowsOf, sortRange, Sweeper, treeX } from "./order";
import { sharePlaces } from "./places";
import { rails } from "./rails";
import { ranks } from "./rank";
import { LocalSearch } from "./search";

export type { LayoutInput } from "./graph";
export { HUB } from "./graph";
export { BOX_H, BOX_W } from "./rails";

export interface Layout {
  /** Centre x of each node, px; the leftmost is 0. */
  x: Float64Array;
  /** Row of each node, 0 at the top. */
  row: Int32Array;
  rows: number;
  /** x of the rail for a node's long edges, NaN without one. */
  rail: Float64Array;
  /** Bit 1: too many users for lines, bit 2: too many sources. */
  hub: Uint8Array;
  /** Distance of the outermost centres, px. */
  width: number;
}

/** Sweeps that look one way, both ways, and both ways with the order kept. */
const ONE_SIDED = 9;
const TWO_SIDED = 6;
const IN_ORDER = 3;


/** Lays out in parts; yields the share done, 0..1. */
export function* layered(input: LayoutInput): Generator<number, Layout> {
  const g = layoutGraph(input);
  yield 0.1;
  const row = ranks(g);
  yield 0.15;
  const places = input.life ? sharePlaces(g, row, input.life) : null;
  const spotX = yield* columns(places?.graph ?? g, places?.row ?? row);
  const x = places ? Float64Array.from(places.of, (spot) => spotX[spot]!) : spotX;
  let width = 0;
  for (const c of x) width = Math.max(width, c);
  const rows = rowsOf(row);
  for (let r = 0; r + 1 < rows.first.length; r++)
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, x);
  const rail = rails(g, row, rows, Int32Array.from(x));
  return { x, row, rows: rows.first.length - 1, rail, hub: g.hub, width };
}

/** The x of every node, the leftmost at 0; yields the share done. */
function* columns(g: LayoutGraph, row: Int32Array): Generator<number, Float64Array> {
  const rows = rowsOf(row);
  yield 0.2;
  const x = treeX(g, row);
  for (let r = 0; r + 1 < rows.first.length; r++)
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, x);
  const sweeper = new Sweeper(g, rows, x);
  const sweeps = ONE_SIDED + TWO_SIDED + IN_ORDER;
  for (let i = 0; i < sweeps; i++) {
    const up = i % 2 === 0;
    const side = i >= ONE_SIDED ? "both" : up ? "users" : "sources";
    sweeper.sweep(up, side, i < ONE_SIDED + TWO_SIDED);
    yield 0.3 + (0.3 * i) / sweeps;
  }
  if (LocalSearch.fits(g, row))
    for (const share of new LocalSearch(g, row, rows, x).run()) yield 0.6 + 0.3 * share;
  closeGaps(x);
  let left = Infinity;
  for (const c of x) left = Math.min(left, c);
  for (let v = 0; v < g.n; v++) x[v] = Math.round(x[v]! - left);
  return x;
}

/** Lays out at once. */
export function layout(input: LayoutInput): Layout {
  const parts = layered(input);
  for (;;) {
    const next = parts.next();
    if (next.done) return next.value;
  }
}
