/**
 * The x of the items of a small graph whose orders are given: edges as straight as these allow.
 *
 * Minimizes the squared widths of all segments, with every item in its order and at its distance
 * (coordinate descent over items and over runs of items that touch). A rail has one x in all of its
 * rows. Never changes an order.
 */
import type { Layers } from "./layers";
import { COLUMN } from "../order";

/** Least distance of a rail from the middle of a box, and of two rails, px. */
const BESIDE = COLUMN / 2;
const LANE = 12;
/** Rounds over all items; what is left then is less than a pixel for graphs this small. */
const ROUNDS = 120;
const STILL = 0.2;
/** Neighbours in a row are drawn together a little, so that nothing drifts apart. */
const TOGETHER = 0.02;

interface Pull {
  to: number;
  /** Where this one wants to be, less where the other one is. */
  offset: number;
  weight: number;
}

interface Wall {
  item: number;
  distance: number;
}

/** Centre x of each item, px. */
export function straightened(layers: Layers, orders: readonly (readonly number[])[]): Float64Array {
  return new Straightener(layers, orders).run();
}

class Straightener {
  private readonly x: Float64Array;
  private readonly pulls: Pull[][];
  /** The next items on the left and on the right, in any row, and how far away they stay. */
  private readonly walls: readonly [Wall[][], Wall[][]];

  constructor(
    layers: Layers,
    private readonly orders: readonly (readonly number[])[],
  ) {
    const lists = <T>(): T[][] => Array.from({ length: layers.items }, () => []);
    this.x = new Float64Array(layers.items);
    this.pulls = lists<Pull>();
    this.walls = [lists<Wall>(), lists<Wall>()];
    for (const gap of layers.gaps)
      for (const { above, below, port } of gap)
        if (above !== below) this.join(above, below, port, 1);
    for (const order of orders)
      for (let i = 1; i < order.length; i++) {
        const [left, right] = [order[i - 1]!, order[i]!];
        const rails = Number(layers.isRail(left)) + Number(layers.isRail(right));
        const distance = [COLUMN, BESIDE, LANE][rails]!;
        this.walls[0][right]!.push({ item: left, distance });
        this.walls[1][left]!.push({ item: right, distance });
        this.join(left, right, -distance, TOGETHER);
      }
  }

  /** `a` wants to be at the x of `b` plus an offset. */
  private join(a: number, b: number, offset: number, weight: number): void {
    this.pulls[a]!.push({ to: b, offset, weight });
    this.pulls[b]!.push({ to: a, offset: -offset, weight });
  }

  run(): Float64Array {
    const { x } = this;
    this.spread();
    const all = [...x.keys()];
    for (let round = 0; round < ROUNDS; round++) {
      let most = 0;
      for (const item of round % 2 ? all.toReversed() : all) {
        most = Math.max(most, this.move(new Set([item])));
        for (const side of [0, 1] as const) most = Math.max(most, this.move(this.touching(item, side)));
      }
      if (most < STILL) break;
    }
    return x;
  }

  /** As far left as the orders allow: items come after all on their left. */
  private spread(): void {
    const { x } = this;
    for (let again = true; again; ) {
      again = false;
      for (const order of this.orders)
        for (const item of order)
          for (const wall of this.walls[0][item]!) {
            const least = x[wall.item]! + wall.distance;
            if (x[item]! >= least) continue;
            x[item] = least;
            again = true;
          }
    }
  }

  /** The item with all that it touches on that side, and what these touch. */
  private touching(item: number, side: 0 | 1): Set<number> {
    const found = new Set([item]);
    for (const at of found)
      for (const wall of this.walls[side][at]!)
        if (Math.abs(this.x[at]! - this.x[wall.item]!) - wall.distance < STILL) found.add(wall.item);
    return found;
  }

  /** Moves items together to where their pulls balance, or as far as there is room; how far. */
  private move(items: ReadonlySet<number>): number {
    const { x } = this;
    let sum = 0;
    let weight = 0;
    let [low, high] = [-Infinity, Infinity];
    for (const item of items) {
      for (const pull of this.pulls[item]!) {
        if (items.has(pull.to)) continue;
        sum += pull.weight * (x[pull.to]! + pull.offset - x[item]!);
        weight += pull.weight;
      }
      for (const wall of this.walls[0][item]!)
        if (!items.has(wall.item)) low = Math.max(low, x[wall.item]! + wall.distance - x[item]!);
      for (const wall of this.walls[1][item]!)
        if (!items.has(wall.item)) high = Math.min(high, x[wall.item]! - wall.distance - x[item]!);
    }
    if (!weight) return 0;
    const by = Math.max(Math.min(low, 0), Math.min(Math.max(high, 0), sum / weight));
    for (const item of items) x[item]! += by;
    return Math.abs(by);
  }
}
