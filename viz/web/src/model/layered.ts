/**
 * Layered top-down layout: sources above users, one row per rank.
 *
 * Puts the parts together: graph, rows, shared places, order, local search, rails. Deterministic,
 * without recursion, near-linear in nodes and edges. Yields between the parts, so that it can run
 * in a worker with progress or in slices on the main thread. Never looks at a clock.
 */
import { type LayoutGraph, layoutGraph, type LayoutInput } from "./layout/graph";
import { pinTo } from "./layout/gaps";
import { closeGaps, rowsOf, sortRange, Sweeper, treeX } from "./layout/order";
import { type Places, sharePlaces } from "./layout/places";
import { rails } from "./layout/rails";
import { ranks } from "./layout/rank";
import { LocalSearch } from "./layout/search";
import { layOutSmall } from "./layout/small/layout";

export type { LayoutInput } from "./layout/graph";
export { BOX_H, BOX_W } from "./layout/rails";

export interface Layout {
  /** Centre x of each node, px; the leftmost is 0. */
  x: Float64Array;
  /** Row of each node, 0 at the top. */
  row: Int32Array;
  /** What has to be added to x and row to get the places that were held; else 0. */
  left: number;
  top: number;
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
  const { held } = input;
  const top = held?.row.reduce((a, b) => Math.min(a, b), Infinity) ?? 0;
  const row = held?.row.map((r) => r - top) ?? ranks(g);
  yield 0.15;
  const places = input.life ? sharePlaces(g, row, input.life) : null;
  const pins = held ? pinned(held.x, places) : null;
  const [graph, rowOf] = [places?.graph ?? g, places?.row ?? row];
  const small = pins ? null : layOutSmall(graph, rowOf);
  const spotX = small?.x ?? (yield* columns(graph, rowOf, pins));
  const ofSpots = (all: Float64Array): Float64Array =>
    places ? Float64Array.from(places.of, (spot) => all[spot]!) : all;
  const x = ofSpots(spotX);
  const first = x.reduce((a, b) => Math.min(a, b), Infinity);
  for (let v = 0; v < g.n; v++) x[v]! -= first;
  const width = x.reduce((a, b) => Math.max(a, b), 0);
  const rows = rowsOf(row);
  for (let r = 0; r + 1 < rows.first.length; r++)
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, x);
  const rail = small
    ? ofSpots(small.rail).map((r) => r - first)
    : rails(g, row, rows, Int32Array.from(x));
  const left = held ? first : 0;
  return { x, row, left, top, rows: rows.first.length - 1, rail, hub: g.hub, width };
}

/** The x that spots have to keep: that of a node on them, NaN where none is held; null: none. */
function pinned(x: Float64Array, places: Places | null): Float64Array | null {
  if (x.every(Number.isNaN)) return null;
  if (!places) return x;
  const pins = new Float64Array(places.row.length).fill(NaN);
  x.forEach((c, v) => {
    if (!Number.isNaN(c)) pins[places.of[v]!] = c;
  });
  return pins;
}

/** The x of every node, in whole px, the pinned ones as they are; yields the share done. */
function* columns(
  g: LayoutGraph,
  row: Int32Array,
  pins: Float64Array | null,
): Generator<number, Float64Array> {
  const rows = rowsOf(row);
  yield 0.2;
  const x = treeX(g, row);
  const fixed = pins && pinTo(g, x, pins);
  for (let r = 0; r + 1 < rows.first.length; r++)
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, x);
  const sweeper = new Sweeper(g, rows, x, fixed);
  const sweeps = ONE_SIDED + TWO_SIDED + IN_ORDER;
  for (let i = 0; i < sweeps; i++) {
    const up = i % 2 === 0;
    const side = i >= ONE_SIDED ? "both" : up ? "users" : "sources";
    sweeper.sweep(up, side, i < ONE_SIDED + TWO_SIDED);
    yield 0.3 + (0.3 * i) / sweeps;
  }
  if (LocalSearch.fits(g, row))
    for (const share of new LocalSearch(g, row, rows, x, fixed).run()) yield 0.6 + 0.3 * share;
  closeGaps(x, fixed);
  return x.map(Math.round);
}

/** Lays out at once. */
export function layout(input: LayoutInput): Layout {
  const parts = layered(input);
  for (;;) {
    const next = parts.next();
    if (next.done) return next.value;
  }
}
