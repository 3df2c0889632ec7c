/**
 * Quality of a layout: crossings and boxes hit per edge, and the invariants that always hold.
 *
 * Counts what is drawn as lines (not the stubs of hubs). For benchmarks and tests; the page
 * never calls it.
 */
import { layoutGraph, type LayoutInput } from "../src/model/layout/graph";
import type { Layout } from "../src/model/layered";
import { rowsOf, sortRange } from "../src/model/layout/order";
import { BOX_H, BOX_W, nearest } from "../src/model/layout/rails";
import { type PathSink, trace } from "../src/model/layout/route";

export interface Quality {
  edges: number;
  /** Crossing pairs of straight centre-to-centre lines per edge; pairs sharing an end left out. */
  crossings: number;
  /** Boxes of other nodes that a drawn edge runs through, per edge. */
  boxHits: number;
  /** Drawing area over the sum of the box areas. */
  area: number;
  overlaps: number;
  /** Edges of the acyclic graph that do not point down. */
  upward: number;
}

const EXACT_PAIRS = 8_000_000;
const SAMPLES = 4_000_000;
const PITCH = 60;

export function quality(input: LayoutInput, l: Layout): Quality {
  const g = layoutGraph(input);
  const from: number[] = [];
  const to: number[] = [];
  let upward = 0;
  for (let v = 0; v < g.n; v++) {
    for (let j = g.nearUsers.first[v]!; j < g.nearUsers.first[v + 1]!; j++) {
      from.push(v);
      to.push(g.nearUsers.to[j]!);
    }
    for (let j = g.users.first[v]!; j < g.users.first[v + 1]!; j++)
      if (l.row[g.users.to[j]!]! <= l.row[v]!) upward++;
  }
  const m = from.length;
  const rows = rowsOf(l.row);
  let overlaps = 0;
  for (let r = 0; r + 1 < rows.first.length; r++) {
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, l.x);
    for (let i = rows.first[r]! + 1; i < rows.first[r + 1]!; i++)
      if (l.x[rows.nodes[i]!]! - l.x[rows.nodes[i - 1]!]! < BOX_W) overlaps++;
  }
  let hits = 0;
  const hit = new Set<number>();
  const points: number[] = [];
  const sampler = pathSampler(points);
  for (let e = 0; e < m; e++) {
    const a = from[e]!;
    const b = to[e]!;
    points.length = 0;
    hit.clear();
    trace(sampler, l.x[a]!, l.row[a]!, l.x[b]!, l.row[b]!, l.rail[a]!, PITCH);
    for (let i = 0; i < points.length; i += 2) {
      const r = Math.round(points[i + 1]! / PITCH);
      if (r <= l.row[a]! || r >= l.row[b]!) continue;
      if (Math.abs(points[i + 1]! - r * PITCH) > BOX_H / 2) continue;
      const k = nearest(rows, r, l.x, points[i]!);
      if (k >= 0 && Math.abs(l.x[rows.nodes[k]!]! - points[i]!) < BOX_W / 2)
        hit.add(rows.nodes[k]!);
    }
    hits += hit.size;
  }
  return {
    edges: m,
    crossings: m ? crossingPairs(l, from, to) / m : 0,
    boxHits: m ? hits / m : 0,
    area: ((l.width + BOX_W) * l.rows * PITCH) / Math.max(1, g.n * BOX_W * BOX_H),
    overlaps,
    upward,
  };
}

/** Number of crossing pairs: exact where there are few pairs, else from a seeded sample. */
function crossingPairs(l: Layout, from: number[], to: number[]): number {
  const m = from.length;
  const cross = (e: number, f: number): boolean => {
    const a = from[e]!;
    const b = to[e]!;
    const c = from[f]!;
    const d = to[f]!;
    if (a === c || b === d || a === d || b === c) return false;
    const top = Math.max(l.row[a]!, l.row[c]!);
    const bottom = Math.min(l.row[b]!, l.row[d]!);
    if (top >= bottom) return false;
    const at = (u: number, v: number, r: number): number =>
      l.x[u]! + ((l.x[v]! - l.x[u]!) * (r - l.row[u]!)) / (l.row[v]! - l.row[u]!);
    return (at(a, b, top) - at(c, d, top)) * (at(a, b, bottom) - at(c, d, bottom)) < 0;
  };
  const pairs = (m * (m - 1)) / 2;
  let found = 0;
  if (pairs <= EXACT_PAIRS) {
    for (let e = 0; e < m; e++) for (let f = e + 1; f < m; f++) if (cross(e, f)) found++;
    return found;
  }
  let seed = 12345;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * m);
  };
  for (let i = 0; i < SAMPLES; i++) if (cross(random(), random())) found++;
  return (found / SAMPLES) * pairs;
}

/** A path sink that collects points: x, y, x, y, ... about every four pixels of a row. */
function pathSampler(points: number[]): PathSink {
  let px = 0;
  let py = 0;
  const push = (x: number, y: number): void => void points.push(x, y);
  return {
    moveTo(x, y) {
      [px, py] = [x, y];
      push(x, y);
    },
    lineTo(x, y) {
      const steps = Math.max(1, Math.ceil(Math.abs(y - py) / (BOX_H / 2)));
      for (let i = 1; i <= steps; i++)
        push(px + ((x - px) * i) / steps, py + ((y - py) * i) / steps);
      [px, py] = [x, y];
    },
    bezierCurveTo(ax, ay, bx, by, x, y) {
      for (let i = 1; i <= 24; i++) {
        const t = i / 24;
        const s = 1 - t;
        push(
          s * s * s * px + 3 * s * s * t * ax + 3 * s * t * t * bx + t * t * t * x,
          s * s * s * py + 3 * s * s * t * ay + 3 * s * t * t * by + t * t * t * y,
        );
      }
      [px, py] = [x, y];
    },
  };
}
