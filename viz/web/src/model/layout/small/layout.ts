/**
 * Small graphs, in which a reader follows every edge: fewest crossings first, then straight edges.
 *
 * Rows are given and stay. Where a graph is larger than a few rows of a dozen items, the sweeps and
 * the local search decide instead.
 */
import { fewestCrossings } from "./fewest";
import type { LayoutGraph } from "../graph";
import { Layers } from "./layers";
import { treeX } from "../order";
import { straightened } from "./straighten";

/** Nodes, and items of a row with the rails that pass it. */
const NODES = 64;
const WIDEST = 14;

export interface Small {
  /** Centre x of each node, px. */
  x: Float64Array;
  /** x of each node's rail, NaN without one. */
  rail: Float64Array;
}

/** null for a graph that is not small. */
export function layOutSmall(g: LayoutGraph, row: Int32Array): Small | null {
  if (g.n > NODES || g.hub.some(Boolean)) return null;
  const layers = new Layers(g, row);
  if (layers.rows.some((items) => items.length > WIDEST)) return null;
  const near = treeX(g, row);
  const wanted = (item: number): number => (layers.isRail(item) ? near[layers.railOf.indexOf(item)]! : near[item]!);
  const start = layers.rows.map((items) => items.toSorted((a, b) => wanted(a) - wanted(b)));
  const orders = fewestCrossings(layers, start);
  if (!orders) return null;
  const x = straightened(layers, orders).map(Math.round);
  const rail = Float64Array.from(layers.railOf, (item) => (item < 0 ? NaN : x[item]!));
  return { x: x.slice(0, g.n), rail };
}
