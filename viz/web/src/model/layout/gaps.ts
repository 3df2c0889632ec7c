/**
 * Columns around pins: some nodes of a row have their x already, the others fill its gaps.
 *
 * A free node goes into the gap nearest to where it wants to be that has room; there the x are the
 * nearest that keep the order and the distance (isotonic regression within bounds). Never moves a
 * pinned node.
 */
import type { Adjacency, LayoutGraph } from "./graph";
import { median } from "./pins";

/** Least distance of two neighbours in a row, centre to centre, px. */
export const COLUMN = 156;

/**
 * Puts the pinned nodes where they belong, and the others near them to start with.
 *
 * @param x a layout without pins; changed in place
 * @param pins the x to keep, NaN where a node has none
 * @returns 1 for each pinned node
 */
export function pinTo(g: LayoutGraph, x: Float64Array, pins: Float64Array): Uint8Array {
  const fixed = Uint8Array.from(pins, (c) => (Number.isNaN(c) ? 0 : 1));
  const kept = [...fixed.keys()].filter((v) => fixed[v]);
  const shift = median(kept.map((v) => pins[v]! - x[v]!));
  for (let v = 0; v < g.n; v++) x[v] = fixed[v] ? pins[v]! : x[v]! + shift;
  const placed = fixed.slice();
  const near = function* (v: number): Generator<number> {
    for (const list of [g.nearUsers, g.nearSrcs]) yield* neighbours(list, v);
  };
  // Ring by ring around the pins: the mean of the neighbours that have a place.
  let ring = new Set(kept);
  while (ring.size) {
    const next = new Set<number>();
    for (const v of ring) for (const u of near(v)) if (!placed[u]) next.add(u);
    for (const v of next) {
      let sum = 0;
      let count = 0;
      for (const u of near(v)) {
        if (!placed[u]) continue;
        sum += x[u]!;
        count++;
      }
      x[v] = sum / count;
    }
    for (const v of next) placed[v] = 1;
    ring = next;
  }
  return fixed;
}

function neighbours(list: Adjacency, v: number): Int32Array {
  return list.to.subarray(list.first[v], list.first[v + 1]);
}

interface Gap {
  left: number;
  right: number;
  nodes: number[];
}

/** Places the free nodes of a row, given in the order that they shall have, left to right. */
export function fillGaps(
  row: Int32Array,
  want: Float64Array,
  x: Float64Array,
  fixed: Uint8Array,
): void {
  const walls = row.filter((v) => fixed[v]).sort((a, b) => x[a]! - x[b]!);
  const gaps: Gap[] = [];
  for (let i = 0; i <= walls.length; i++) {
    const left = i ? x[walls[i - 1]!]! + COLUMN : -Infinity;
    const right = i < walls.length ? x[walls[i]!]! - COLUMN : Infinity;
    if (left <= right) gaps.push({ left, right, nodes: [] });
  }
  for (const v of row) if (!fixed[v]) nearestGap(gaps, want[v]!).nodes.push(v);
  for (const gap of gaps) settle(gap, want, x);
}

/** The gap with room that is nearest to x; the outer ones always have room. */
function nearestGap(gaps: readonly Gap[], x: number): Gap {
  let best = gaps[0]!;
  let least = Infinity;
  for (const gap of gaps) {
    if (gap.nodes.length * COLUMN > gap.right - gap.left) continue;
    const way = Math.max(gap.left - x, x - gap.right, 0);
    if (way < least) [best, least] = [gap, way];
  }
  return best;
}

function settle(gap: Gap, want: Float64Array, x: Float64Array): void {
  const value: number[] = [];
  const size: number[] = [];
  gap.nodes.forEach((v, i) => {
    value.push(want[v]! - i * COLUMN);
    size.push(1);
    while (value.length > 1 && value.at(-2)! > value.at(-1)!) {
      const [later, count] = [value.pop()!, size.pop()!];
      const both = size.at(-1)! + count;
      value[value.length - 1] = (value.at(-1)! * size.at(-1)! + later * count) / both;
      size[size.length - 1] = both;
    }
  });
  const last = gap.right - (gap.nodes.length - 1) * COLUMN;
  let i = 0;
  value.forEach((block, b) => {
    const at = Math.max(gap.left, Math.min(last, block));
    for (let k = 0; k < size[b]!; k++, i++) x[gap.nodes[i]!] = at + i * COLUMN;
  });
}
