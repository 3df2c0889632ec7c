/**
 * Orders of the rows of a small graph with the fewest crossings.
 *
 * Where the orders of two neighbouring rows are few, all are tried, row after row (dynamic
 * programming): the minimum is certain. Else, from several starts, each row in turn gets the best
 * order beside its neighbours, or its items are sifted through it, as long as that helps. Of equal orders the one with the shortest edges wins. Budgeted by
 * operations and never by a clock, so that one graph always gets one picture.
 */
import { crossed, type Layers, RAILS_CROSSED, type Segment } from "./layers";

/** Pairs compared, about 20 ms; all orders are tried where that takes no more. */
const BUDGET = 6_000_000;
/** Starts of the sifting: one is given, the others are shuffled. */
const STARTS = 12;
/** Sweeps by barycentres before each sifting (Sugiyama, Tagawa and Toda, 1981). */
const SWEEPS = 10;
/** A crossing is worse than any length. */
const LENGTH = 1e-4;
/** Ports count as parts of a place, so that one comparison tells both. */
const PORT_SHARE = 1 / 1024;
/** Of a row with no more items the best order beside given neighbours is found for certain. */
const EXACT_ROW = 8;
/** Rows with more items have too many orders to list them. */
const LISTED = 7;

/** Items of each row, left to right; null if rails would have to cross each other. */
export function fewestCrossings(layers: Layers, start: readonly number[][]): number[][] | null {
  const search = new Search(layers);
  return search.all() ?? search.sift(start);
}

class Search {
  private readonly weights: Float64Array[];
  /** Places of the items of two neighbouring rows; a rail is in both. */
  private readonly above: Float64Array;
  private readonly below: Float64Array;
  private looked = 0;

  constructor(private readonly layers: Layers) {
    this.weights = layers.gaps.map((_, r) => layers.weights(r));
    this.above = new Float64Array(layers.items);
    this.below = new Float64Array(layers.items);
  }

  /** The best of all orders; null if they are too many. */
  all(): number[][] | null {
    const { rows, gaps } = this.layers;
    let effort = 0;
    for (let r = 0; r < rows.length; r++) {
      const [here, next] = [rows[r]!.length, rows[r + 1]?.length ?? 0];
      if (here > LISTED) return null;
      effort += factorial(here) * (factorial(next) * next * next + gaps[r]!.length ** 2);
    }
    if (effort > BUDGET) return null;
    const orders = rows.map((row) => permutations(row.length));
    let best = new Float64Array(orders[0]?.length ?? 0);
    const from: Int32Array[] = [];
    for (let r = 0; r + 1 < rows.length; r++) {
      const next = new Float64Array(orders[r + 1]!.length).fill(Infinity);
      const came = new Int32Array(next.length);
      orders[r]!.forEach((order, i) => {
        const above = order.map((k) => rows[r]![k]!);
        const costs = this.costsBelow(r, above);
        orders[r + 1]!.forEach((below, j) => {
          const cost = costs(below, next[j]! - best[i]!) + best[i]!;
          if (cost < next[j]!) [next[j], came[j]] = [cost, i];
        });
      });
      from.push(came);
      best = next;
    }
    let at = best.indexOf(Math.min(...best));
    const chosen: number[][] = [];
    for (let r = rows.length - 1; r >= 0; r--) {
      chosen.unshift(orders[r]![at]!.map((k) => rows[r]![k]!));
      if (r > 0) at = from[r - 1]![at]!;
    }
    return chosen;
  }

  /** What each order of row r + 1 costs below a given row: at least `enough` if not less. */
  private costsBelow(
    r: number,
    above: readonly number[],
  ): (below: readonly number[], enough: number) => number {
    const row = this.layers.rows[r + 1]!;
    const n = row.length;
    const pair = this.pairs([above, row], 1, r);
    const length = new Float64Array(n * n); // by item and place
    const upper = new Map(above.map((item, i) => [item, i]));
    const index = new Map(row.map((item, i) => [item, i]));
    const shift = (above.length - n) / 2;
    const gap = this.layers.gaps[r]!;
    let ports = 0; // crossings of edges into the same node
    gap.forEach((e, i) =>
      gap.forEach((f, j) => {
        if (e.below === f.below && e.port < f.port && upper.get(e.above)! > upper.get(f.above)!)
          ports += this.weights[r]![i * gap.length + j]!;
      }),
    );
    for (const s of gap)
      for (let i = 0; i < n; i++)
        length[index.get(s.below)! * n + i]! += LENGTH * Math.abs(upper.get(s.above)! - i - shift);
    return (below, enough) => {
      let cost = ports;
      for (let i = 0; i < n && cost < enough; i++) {
        const at = below[i]! * n;
        cost += length[at + i]!;
        for (let j = i + 1; j < n; j++) cost += pair[at + below[j]!]!;
      }
      return cost;
    };
  }

  /** The best order that sifting finds. */
  sift(start: readonly number[][]): number[][] | null {
    const rand = lehmer(1 + this.layers.items);
    let best: number[][] | null = null;
    let least = Infinity;
    for (let i = 0; i < STARTS && this.looked < BUDGET; i++) {
      const orders = start.map((row) => (i ? shuffled(row, rand) : [...row]));
      for (let sweep = 0; sweep < SWEEPS; sweep++) this.sweep(orders, sweep % 2 === 0);
      this.settle(orders);
      const cost = this.total(orders);
      if (cost < least) [best, least] = [orders, cost];
    }
    return least < RAILS_CROSSED ? best : null;
  }

  /** Sorts every row by where its neighbours are, in the row above or in the row below. */
  private sweep(orders: number[][], down: boolean): void {
    const { gaps } = this.layers;
    for (let k = 1; k < orders.length; k++) {
      const r = down ? k : orders.length - 1 - k;
      const near = down ? r - 1 : r + 1;
      const place = new Map(orders[near]!.map((item, i) => [item, i / orders[near]!.length]));
      const sums = new Map<number, [number, number]>();
      for (const s of gaps[down ? near : r]!) {
        const [item, other] = down ? [s.below, s.above] : [s.above, s.below];
        const port = down ? 0 : s.port * PORT_SHARE;
        const [sum, count] = sums.get(item) ?? [0, 0];
        sums.set(item, [sum + place.get(other)! + port / orders[near]!.length, count + 1]);
      }
      const wanted = (item: number, i: number): number => {
        const [sum, count] = sums.get(item) ?? [0, 0];
        return count ? sum / count : (i + 0.5) / orders[r]!.length;
      };
      const key = new Map(orders[r]!.map((item, i) => [item, wanted(item, i)]));
      orders[r]!.sort((a, b) => key.get(a)! - key.get(b)!);
    }
  }

  /** Sifts through all rows until nothing gets better or the budget is spent. */
  private settle(orders: number[][]): void {
    for (let better = true; better && this.looked < BUDGET; ) {
      better = false;
      for (let r = 0; r < orders.length; r++)
        if (orders[r]!.length <= EXACT_ROW) better = this.bestRow(orders, r) || better;
        else for (const item of [...orders[r]!]) better = this.siftOne(orders, r, item) || better;
    }
  }

  /** Puts a row into the best of all orders beside its neighbours, over all sets of left items. */
  private bestRow(orders: number[][], r: number): boolean {
    const order = orders[r]!;
    const n = order.length;
    const before = this.around(orders, r);
    const pair = this.pairs(orders, r);
    const least = new Float64Array(1 << n).fill(Infinity);
    const last = new Int8Array(1 << n);
    least[0] = 0;
    for (let set = 0; set < 1 << n; set++)
      for (let i = 0; i < n; i++) {
        if (set & (1 << i)) continue;
        let cost = least[set]!;
        for (let j = 0; j < n; j++) if (set & (1 << j)) cost += pair[j * n + i]!;
        const more = set | (1 << i);
        if (cost < least[more]!) [least[more], last[more]] = [cost, i];
      }
    this.looked += n * n << n - 1;
    const found: number[] = [];
    for (let set = (1 << n) - 1; set; set &= ~(1 << last[set]!)) found.unshift(order[last[set]!]!);
    orders[r] = found;
    if (this.around(orders, r) < before - LENGTH / 100) return true;
    orders[r] = order;
    return false;
  }

  /**
   * Crossings of the edges of each two items of row r if the first one is left of the other. The
   * first of the orders is that of row `top`.
   */
  private pairs(orders: readonly (readonly number[])[], r: number, top = 0): Float64Array {
    const order = orders[r]!;
    const n = order.length;
    const index = new Map(order.map((item, i) => [item, i]));
    const found = new Float64Array(n * n);
    const add = (gap: number, own: "above" | "below", far: (s: Segment) => number): void => {
      const all = this.layers.gaps[gap] ?? [];
      all.forEach((e, i) =>
        all.forEach((f, j) => {
          if (e[own] !== f[own] && far(e) > far(f))
            found[index.get(e[own])! * n + index.get(f[own])!]! +=
              this.weights[gap]![i * all.length + j]!;
        }),
      );
    };
    const upper = new Map((orders[r - 1] ?? []).map((item, i) => [item, i]));
    const lower = new Map((orders[r + 1] ?? []).map((item, i) => [item, i]));
    add(top + r - 1, "below", (s) => upper.get(s.above)!);
    if (orders[r + 1]) add(top + r, "above", (s) => lower.get(s.below)! + s.port * PORT_SHARE);
    return found;
  }

  /** What a row costs with its neighbours. */
  private around(orders: readonly number[][], r: number): number {
    const above = r > 0 ? this.cost(r - 1, orders[r - 1]!, orders[r]!) : 0;
    return above + (r + 1 < orders.length ? this.cost(r, orders[r]!, orders[r + 1]!) : 0);
  }

  /** Moves an item to the best place in its row. */
  private siftOne(orders: number[][], r: number, item: number): boolean {
    const order = orders[r]!;
    const was = order.indexOf(item);
    let least = this.around(orders, r);
    let best = was;
    for (const way of [-1, 1]) {
      let at = was;
      while (at + way >= 0 && at + way < order.length) {
        [order[at], order[at + way]] = [order[at + way]!, order[at]!];
        at += way;
        const cost = this.around(orders, r);
        if (cost < least - LENGTH / 100) [least, best] = [cost, at];
      }
      order.splice(order.indexOf(item), 1);
      order.splice(was, 0, item);
    }
    if (best === was) return false;
    order.splice(was, 1);
    order.splice(best, 0, item);
    return true;
  }

  private total(orders: readonly number[][]): number {
    let sum = 0;
    for (let r = 0; r + 1 < orders.length; r++) sum += this.cost(r, orders[r]!, orders[r + 1]!);
    return sum;
  }

  /** Crossings between two rows, and a little for the length of the segments. */
  private cost(r: number, upper: readonly number[], lower: readonly number[]): number {
    const { above, below } = this;
    const gap = this.layers.gaps[r]!;
    this.looked += 1 + (gap.length * gap.length) / 2;
    const shift = (upper.length - lower.length) / 2;
    upper.forEach((item, i) => (above[item] = i));
    lower.forEach((item, i) => (below[item] = i));
    let length = 0;
    for (const s of gap) length += Math.abs(above[s.above]! - below[s.below]! - shift);
    return crossed(gap, this.weights[r]!, above, below, PORT_SHARE) + LENGTH * length;
  }
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

/** All orders of 0 .. n - 1. */
function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((rest) =>
    Array.from({ length: n }, (_, i) => [...rest.slice(0, i), n - 1, ...rest.slice(i)]),
  );
}

function shuffled(row: readonly number[], rand: () => number): number[] {
  const all = [...row];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(rand() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

/** Numbers in 0..1 that are the same for one seed (Lehmer, 1951). */
function lehmer(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}
