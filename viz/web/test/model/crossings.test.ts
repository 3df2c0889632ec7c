import { describe, expect, it } from "vitest";
import { Crossings, Meetings } from "../../src/model/layout/crossings";
import { layoutGraph } from "../../src/model/layout/graph";
import { rowsOf } from "../../src/model/layout/order";
import { random } from "./fixtures";

/** Nodes in rows of five at uneven places, edges down over one to six rows. */
function tangle(seed: number): { crossings: Crossings; x: Int32Array; row: Int32Array } {
  const rand = random(seed);
  const n = 60;
  const row = Int32Array.from({ length: n }, (_, v) => Math.floor(v / 5));
  const x = Int32Array.from({ length: n }, (_, v) => (v % 5) * 160 + Math.floor(rand() * 89));
  const src: number[] = [];
  const user: number[] = [];
  for (let i = 0; i < 130; i++) {
    const a = Math.floor(rand() * (n - 5));
    const rows = 1 + Math.floor(rand() * rand() * 6);
    const b = (row[a]! + rows) * 5 + Math.floor(rand() * 5);
    if (b < n) {
      src.push(a);
      user.push(b);
    }
  }
  const g = layoutGraph({ n, src: Int32Array.from(src), user: Int32Array.from(user) });
  return { crossings: new Crossings(g, row, rowsOf(row), x), x, row };
}

/** Crossings of the edges of `v` with v at `place`, from the definition. */
function count(
  { crossings, x, row }: ReturnType<typeof tangle>,
  v: number,
  place: number,
  besides = -1,
): number {
  const { above, below } = crossings;
  const at = (e: number, r: number): number => {
    const [a, b] = [above[e]!, below[e]!];
    const [xa, xb] = [a === v ? place : x[a]!, b === v ? place : x[b]!];
    return xa + ((xb - xa) * (r - row[a]!)) / (row[b]! - row[a]!);
  };
  let found = 0;
  for (let e = 0; e < above.length; e++) {
    if (above[e] !== v && below[e] !== v) continue;
    for (let f = 0; f < above.length; f++) {
      if (above[f] === above[e] || below[f] === below[e]) continue;
      if (above[f] === besides || below[f] === besides) continue;
      const top = Math.max(row[above[e]!]!, row[above[f]!]!);
      const bottom = Math.min(row[below[e]!]!, row[below[f]!]!);
      if (top < bottom && (at(e, top) - at(f, top)) * (at(e, bottom) - at(f, bottom)) < 0) found++;
    }
  }
  return found;
}

describe("crossings of a node's edges", () => {
  it.each([1, 2, 3])("are right for every place, from one look: seed %i", (seed) => {
    const given = tangle(seed);
    const met = new Meetings();
    for (let v = 0; v < 60; v++) {
      given.crossings.meet(v, -1, -203, 1009, met);
      for (let place = -203; place <= 1009; place += 101)
        expect(met.at(place), `node ${v} at ${place}`).toBe(count(given, v, place));
      given.crossings.meet(v, (v + 1) % 60, 7, 311, met);
      expect(met.at(203)).toBe(count(given, v, 203, (v + 1) % 60));
    }
  });

  it("follow the nodes that move, and say around which something has changed", () => {
    const given = tangle(4);
    const { crossings } = given;
    const met = new Meetings();
    const rand = random(5);
    for (let i = 0; i < 60; i++) {
      const v = Math.floor(rand() * 60);
      const place = Math.floor(rand() * 800);
      const others = Array.from({ length: 60 }, (_, u) => count(given, u, given.x[u]!));
      crossings.meet(v, -1, Math.min(place, given.x[v]!), Math.max(place, given.x[v]!), met);
      crossings.stale.fill(0);
      crossings.move(v, place, met);
      expect(given.x[v]).toBe(place);
      others.forEach((before, u) => {
        if (count(given, u, given.x[u]!) !== before) expect(crossings.stale[u]).toBe(1);
      });
      crossings.meet(v, -1, place, place + 1, met);
      expect(met.at(place)).toBe(count(given, v, place));
    }
  });

  it("tell two edges that cross from two that do after a swap", () => {
    // 0 and 1 in one row, 2 and 3 in the next; 0 > 3 and 1 > 2 cross
    const row = Int32Array.of(0, 0, 1, 1);
    const g = layoutGraph({ n: 4, src: Int32Array.of(0, 1), user: Int32Array.of(3, 2) });
    const crossings = new Crossings(g, row, rowsOf(row), Int32Array.of(0, 160, 0, 160));
    expect(crossings.cross(0, 1)).toBe(true);
    expect(crossings.crossSwapped(0, 1, 0, 1)).toBe(false);
    expect(crossings.cross(0, 1)).toBe(true);
  });

  it("grow with what they hold", () => {
    const met = new Meetings();
    for (let i = 0; i < 10_000; i++) met.add(i, i, i + 3);
    expect(met.at(5000)).toBe(2);
    expect(met.other[9999]).toBe(9999);
  });
});
