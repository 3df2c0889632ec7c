import { describe, expect, it } from "vitest";
import { layoutGraph, type LayoutInput } from "../../src/model/layout/graph";
import { type Layout, layout } from "../../src/model/layered";
import { COLUMN } from "../../src/model/layout/order";
import { portOffset } from "../../src/model/layout/route";
import { random } from "./fixtures";

/** Nodes in rows, each with up to three sources in rows above, entered from left to right. */
function layeredGraph(sizes: readonly number[], seed: number): LayoutInput {
  const rand = random(seed);
  const rows: number[][] = [];
  let n = 0;
  for (const size of sizes) rows.push(Array.from({ length: size }, () => n++));
  const [src, user, port]: number[][] = [[], [], []];
  rows.forEach((nodes, r) => {
    if (r === 0) return;
    for (const v of nodes) {
      const sources = new Set<number>();
      const near = rows[r - 1]!;
      sources.add(near[Math.floor(rand() * near.length)]!);
      for (let more = Math.floor(rand() * 3); more > 0; more--) {
        const from = rows[rand() < 0.7 ? r - 1 : Math.floor(rand() * r)]!;
        sources.add(from[Math.floor(rand() * from.length)]!);
      }
      const all = [...sources].sort(() => rand() - 0.5);
      all.forEach((s, i) => {
        src!.push(s);
        user!.push(v);
        port!.push(Math.round(portOffset(i, all.length)));
      });
    }
  });
  return { n, src: Int32Array.from(src!), user: Int32Array.from(user!), port: Int32Array.from(port!) };
}

/** A graph drawn without a crossing, whose nodes are numbered at random in each row. */
function planar(sizes: readonly number[], seed: number): LayoutInput {
  const rand = random(seed);
  const rows: number[][] = [];
  let n = 0;
  for (const size of sizes)
    rows.push(Array.from({ length: size }, () => n++).sort(() => rand() - 0.5));
  const [src, user, port]: number[][] = [[], [], []];
  for (let r = 1; r < rows.length; r++) {
    const above = rows[r - 1]!;
    let at = 0;
    rows[r]!.forEach((v, i) => {
      // Neighbours share at most the source between them.
      const last = i === rows[r]!.length - 1;
      const end = last ? above.length - 1 : Math.min(above.length - 1, at + Math.floor(rand() * 3));
      const sources = above.slice(at, end + 1);
      sources.forEach((s, k) => {
        src!.push(s);
        user!.push(v);
        port!.push(Math.round(portOffset(k, sources.length)));
      });
      at = end;
    });
  }
  return { n, src: Int32Array.from(src!), user: Int32Array.from(user!), port: Int32Array.from(port!) };
}

/** Crossings as drawn: between two rows the edges of one source that go the same way are one line. */
function crossings(given: LayoutInput, l: Layout): number {
  const g = layoutGraph(given);
  let found = 0;
  for (let r = 0; r + 1 < l.rows; r++) {
    const lines = new Map<string, [number, number, number]>();
    for (let v = 0; v < g.n; v++)
      for (let j = g.nearUsers.first[v]!; j < g.nearUsers.first[v + 1]!; j++) {
        const u = g.nearUsers.to[j]!;
        if (l.row[v]! > r || l.row[u]! <= r) continue;
        const long = l.row[u]! - l.row[v]! > 1;
        const from = l.row[v] === r ? l.x[v]! : l.rail[v]!;
        const to = l.row[u] === r + 1 ? l.x[u]! + g.port(g.nearEdge[j]!) : l.rail[v]!;
        lines.set(`${v} ${long && l.row[u]! > r + 1 ? "on" : u}`, [v, from, to]);
      }
    const all = [...lines.values()];
    all.forEach(([a, a1, a2], i) => {
      for (const [b, b1, b2] of all.slice(i + 1)) if (a !== b && (a1 - b1) * (a2 - b2) < 0) found++;
    });
  }
  return found;
}

/** The fewest crossings of all orders of all rows, from the definition. */
function fewest(given: LayoutInput, row: Int32Array): number {
  const count = Math.max(...row) + 1;
  const last = Array.from(row);
  for (let e = 0; e < given.src.length; e++)
    last[given.src[e]!] = Math.max(last[given.src[e]!]!, row[given.user[e]!]!);
  // A source is in its own row, and as a rail in all rows before its last user.
  const rows = Array.from({ length: count }, (_, r) =>
    [...row.keys()].filter((v) => row[v] === r || (row[v]! < r && r < last[v]!)),
  );
  const orders = rows.map(permutations);
  const lines = rows.map((_, r) => {
    const found = new Map<string, [number, number, number]>();
    for (let e = 0; e < given.src.length; e++) {
      const [v, u] = [given.src[e]!, given.user[e]!];
      if (row[v]! > r || row[u]! <= r) continue;
      if (row[u] === r + 1) found.set(`${v} ${u}`, [v, u, given.port![e]!]);
      else found.set(`${v} on`, [v, v, 0]);
    }
    return [...found.values()];
  });
  const cost = (r: number, above: number[], below: number[]): number => {
    let sum = 0;
    const all = lines[r]!;
    all.forEach(([a, au, ap], i) => {
      for (const [b, bu, bp] of all.slice(i + 1)) {
        if (a === b) continue;
        const top = above.indexOf(a) - above.indexOf(b);
        const bottom = au === bu ? ap - bp : below.indexOf(au) - below.indexOf(bu);
        const rails = au === a && bu === b && row[a]! < r && row[b]! < r;
        if (top * bottom < 0) sum += rails ? 1000 : 1;
      }
    });
    return sum;
  };
  let least = Infinity;
  const walk = (r: number, above: number[], sum: number): void => {
    if (sum >= least) return;
    if (r === count - 1) least = sum;
    else for (const below of orders[r + 1]!) walk(r + 1, below, sum + cost(r, above, below));
  };
  for (const order of orders[0]!) walk(0, order, 0);
  return least;
}

function permutations(list: readonly number[]): number[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((v, i) => permutations(list.filter((_, j) => j !== i)).map((p) => [v, ...p]));
}

const tall = Array.from({ length: 150 }, (_, seed): [string, number[], number] => [
  `${seed}`,
  [[1, 2, 2], [2, 3, 2], [3, 3, 3], [2, 2, 2, 2], [3, 2, 3, 2], [4, 4, 4]][seed % 6]!,
  seed + 1,
]);

describe("small graphs", () => {
  it.each(tall)("have the fewest crossings that their rows allow: seed %s", (_, sizes, seed) => {
    const given = layeredGraph(sizes, seed);
    const l = layout(given);
    expect(crossings(given, l)).toBe(fewest(given, l.row));
  });

  it.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
    "of wide rows that can be drawn without a crossing are: seed %i",
    (seed) => {
      const given = planar([7 + (seed % 3), 11, 8 + (seed % 4), 6], seed);
      const l = layout(given);
      expect(crossings(given, l)).toBe(0);
    },
  );

  it.each([1, 2, 3, 4, 5, 6])("keep boxes and rails apart: seed %i", (seed) => {
    const given = layeredGraph([4, 6, 5, 6, 3], seed);
    const l = layout(given);
    for (let v = 0; v < given.n; v++)
      for (let u = 0; u < given.n; u++) {
        if (v < u && l.row[v] === l.row[u])
          expect(Math.abs(l.x[v]! - l.x[u]!)).toBeGreaterThanOrEqual(COLUMN);
        let last = l.row[v]!;
        for (let e = 0; e < given.src.length; e++)
          if (given.src[e] === v) last = Math.max(last, l.row[given.user[e]!]!);
        if (l.row[v]! < l.row[u]! && l.row[u]! < last)
          expect(Math.abs(l.rail[v]! - l.x[u]!)).toBeGreaterThanOrEqual(COLUMN / 2);
      }
  });

  it("draws the README's graph without a crossing, sources on the sides of their ports", () => {
    // (a*2 + 1), with the constants first, as a trace numbers them
    const [two, a, mul, one, add] = [0, 1, 2, 3, 4];
    const edges = [[a, mul, -15], [two, mul, 15], [mul, add, -15], [one, add, 15]];
    const given = {
      n: 5,
      src: Int32Array.from(edges, (e) => e[0]!),
      user: Int32Array.from(edges, (e) => e[1]!),
      port: Int32Array.from(edges, (e) => e[2]!),
    };
    const l = layout(given);
    expect(crossings(given, l)).toBe(0);
    expect(l.x[a]).toBeLessThan(l.x[two]!);
    expect(l.x[mul]).toBeLessThan(l.x[one]!);
  });

  it("straightens a chain beside a long edge", () => {
    const edges = [[0, 1], [1, 2], [2, 3], [0, 3]];
    const given = {
      n: 4,
      src: Int32Array.from(edges, (e) => e[0]!),
      user: Int32Array.from(edges, (e) => e[1]!),
    };
    const l = layout(given);
    expect(l.x[1]).toBe(l.x[2]);
    expect(Math.abs(l.rail[0]! - l.x[1]!)).toBeGreaterThanOrEqual(COLUMN / 2);
  });
});
