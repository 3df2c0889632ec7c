import { describe, expect, it } from "vitest";
import { HUB, layoutGraph, type LayoutInput } from "../../src/model/layout/graph";
import { type Layout, layered, layout } from "../../src/model/layered";
import { quality } from "../../bench/quality";
import { COLUMN, rowsOf, sortRange } from "../../src/model/layout/order";
import { type Pin, Pinned } from "../../src/model/layout/pins";
import { type PathSink, portOffset, trace } from "../../src/model/layout/route";
import { random } from "./fixtures";

function input(n: number, edges: [number, number][]): LayoutInput {
  return {
    n,
    src: Int32Array.from(edges, (e) => e[0]),
    user: Int32Array.from(edges, (e) => e[1]),
  };
}

/** Random edges; `back` of them go against the order and may close cycles. */
function randomInput(n: number, m: number, back: number, seed: number): LayoutInput {
  const rand = random(seed);
  const edges: [number, number][] = [];
  for (let i = 0; i < m; i++) {
    const b = 1 + Math.floor(rand() * (n - 1));
    const near = rand() < 0.7;
    const a = near ? Math.max(0, b - 1 - Math.floor(rand() * 12)) : Math.floor(rand() * b);
    edges.push(rand() < back ? [b, a] : [a, b]);
  }
  return input(n, edges);
}

/** What always holds: a place for all, no overlap in a row, every edge of the DAG points down. */
function invariants(given: LayoutInput): void {
  const l = layout(given);
  const q = quality(given, l);
  expect(q.overlaps).toBe(0);
  expect(q.upward).toBe(0);
  expect(l.x).toHaveLength(given.n);
  for (const x of l.x) expect(x >= 0 && x <= l.width).toBe(true);
  for (const r of l.row) expect(r >= 0 && r < l.rows).toBe(true);
  const rows = rowsOf(l.row);
  for (let r = 0; r < l.rows; r++) {
    sortRange(rows.nodes, rows.first[r]!, rows.first[r + 1]!, l.x);
    for (let i = rows.first[r]! + 1; i < rows.first[r + 1]!; i++)
      expect(l.x[rows.nodes[i]!]! - l.x[rows.nodes[i - 1]!]!).toBeGreaterThanOrEqual(COLUMN - 1);
  }
}

describe("layout", () => {
  const cases = [1, 2, 3, 4, 5, 6, 7, 8].map((seed): [number, number, number, number] => [
    [2, 9, 40, 150, 400, 900, 60, 30][seed - 1]!,
    [1, 14, 70, 300, 700, 1500, 1200, 200][seed - 1]!,
    [0, 0, 0, 0, 0.02, 0.02, 0.1, 0.5][seed - 1]!,
    seed,
  ]);
  it.each(cases)("keeps its promises: %i nodes, %i edges, %d backwards, seed %i", (n, m, back, seed) => {
    invariants(randomInput(n, m, back, seed));
  });

  it("is the same every time", () => {
    const given = randomInput(500, 900, 0.01, 11);
    expect(layout(given)).toEqual(layout(given));
  });

  it("takes no nodes, lone nodes, loops and repeated edges", () => {
    expect(layout(input(0, [])).rows).toBe(0);
    expect(layout(input(3, [])).rows).toBe(1);
    invariants(input(2, [[0, 0], [0, 1], [0, 1], [1, 1]]));
  });

  it("breaks a cycle at one edge and keeps the rest pointing down", () => {
    const given = input(4, [[0, 1], [1, 2], [2, 0], [2, 3]]);
    const l = layout(given);
    const up = [0, 1, 2, 3].filter((e) => l.row[given.src[e]!]! >= l.row[given.user[e]!]!);
    expect(up).toHaveLength(1);
    invariants(given);
  });

  it("puts a leaf directly above its first user", () => {
    // 0 > 1 > 2 > 3, and leaf 4 used by 3 only
    const l = layout(input(5, [[0, 1], [1, 2], [2, 3], [4, 3]]));
    expect(l.row[4]).toBe(l.row[3]! - 1);
  });

  it("draws a tree without a crossing", () => {
    const edges: [number, number][] = [];
    for (let v = 1; v < 127; v++) edges.push([v, (v - 1) >> 1]);
    const given = input(127, edges);
    expect(quality(given, layout(given)).crossings).toBe(0);
    invariants(given);
  });

  it("untangles two crossed ladders", () => {
    const edges: [number, number][] = [];
    for (let i = 0; i < 20; i++) edges.push([i, 20 + ((i * 7) % 20)], [20 + ((i * 7) % 20), 40]);
    expect(quality(input(41, edges), layout(input(41, edges))).crossings).toBeLessThan(0.05);
  });

  it("marks hubs, whose edges are not drawn as lines", () => {
    const users: [number, number][] = Array.from({ length: HUB }, (_, i) => [0, i + 2]);
    const sources: [number, number][] = Array.from({ length: HUB }, (_, i) => [i + 2, 1]);
    const given = input(HUB + 2, [...users, ...sources]);
    const l = layout(given);
    expect([l.hub[0], l.hub[1], l.hub[2]]).toEqual([1, 2, 0]);
    expect(layoutGraph(given).nearUsers.to).toHaveLength(0);
    invariants(given);
  });

  it("does not recurse: 100,000 nodes in a chain", () => {
    const n = 100_000;
    const l = layout(input(n, Array.from({ length: n - 1 }, (_, i) => [i, i + 1])));
    expect(l.rows).toBe(n);
    expect(new Set(l.x).size).toBe(1);
  });

  it("yields between its parts, with a growing share", () => {
    const shares = [...layered(randomInput(300, 500, 0, 3))];
    expect(shares.length).toBeGreaterThan(5);
    expect(shares.every((s, i) => s >= 0 && s <= 1 && (i === 0 || s >= shares[i - 1]!))).toBe(true);
  });

  it("refuses edges to nodes that do not exist", () => {
    expect(() => layout(input(2, [[0, 2]]))).toThrow("edge 0 joins 0 and 2, nodes are 0..1");
  });
});

describe("pins", () => {
  /** A layout, and another one of the same graph with some more nodes, around some of its places. */
  const grown = (seed: number): [LayoutInput, Pin[], Map<number, number>] => {
    const rand = random(seed);
    const given = randomInput(90, 150, 0, seed);
    const l = layout(input(60, edgesAmong(given, 60)));
    const pins: Pin[] = [];
    const xs = new Map<number, number>();
    for (let v = 0; v < 60; v++) {
      if (rand() < 0.5) continue;
      pins.push({ node: v, row: l.row[v]! - 7 });
      xs.set(v, l.x[v]! - 1000);
    }
    return [given, pins, xs];
  };
  const edgesAmong = (given: LayoutInput, n: number): [number, number][] =>
    Array.from(given.src, (a, e): [number, number] => [a, given.user[e]!]).filter(
      ([a, b]) => a < n && b < n,
    );
  const around = ([given, pins, xs]: ReturnType<typeof grown>): [Pinned, Layout] => {
    const pinned = new Pinned(layoutGraph(given), pins);
    const x = Float64Array.from({ length: given.n }, (_, v) =>
      pinned.fixed[v] ? xs.get(v)! : NaN,
    );
    return [pinned, layout({ ...given, held: { row: pinned.rows(), x } })];
  };

  it.each([1, 2, 3, 4, 5, 6])("stay where they are, and nothing overlaps or points up, seed %i", (seed) => {
    const made = grown(seed);
    const [given, pins, xs] = made;
    const [pinned, l] = around(made);
    expect(pinned.loose.length).toBeLessThan(pins.length / 3);
    for (const { node, row } of pins) {
      if (!pinned.fixed[node]) continue;
      expect([l.x[node]! + l.left, l.row[node]! + l.top]).toEqual([xs.get(node), row]);
    }
    const q = quality(given, l);
    expect([q.overlaps, q.upward]).toEqual([0, 0]);
    expect(Math.min(...l.x)).toBe(0);
    expect(Math.min(...l.row)).toBe(0);
    expect(around(made)[1]).toEqual(l);
  });

  it("give way to more important ones where there is no room between them", () => {
    // 0 > 1 > 2: with 0 in row 4, node 2 cannot be in row 5, nor in row 4.
    const g = layoutGraph(input(3, [[0, 1], [1, 2]]));
    const top = { node: 0, row: 4 };
    expect(new Pinned(g, [top, { node: 2, row: 5 }]).loose).toEqual([{ node: 2, row: 5 }]);
    expect(new Pinned(g, [{ node: 2, row: 4 }, top]).loose).toEqual([top]);
    const fits = new Pinned(g, [top, { node: 2, row: 6 }]);
    expect(fits.loose).toEqual([]);
    expect([...fits.rows()]).toEqual([4, 5, 6]);
  });

  it("bend wanted rows as little as they must", () => {
    const g = layoutGraph(input(4, [[0, 1], [1, 2], [3, 2]]));
    const pinned = new Pinned(g, [{ node: 1, row: 10 }]);
    expect([...pinned.near((v) => [2, 0, 3, -5][v]!)]).toEqual([2, 10, 11, -5]);
  });
});

describe("course of an edge", () => {
  const record = (): { path: PathSink; points: [number, number][] } => {
    const points: [number, number][] = [];
    const put = (x: number, y: number): void => void points.push([x, y]);
    return {
      points,
      path: { moveTo: put, lineTo: put, bezierCurveTo: (_a, _b, _c, _d, x, y) => put(x, y) },
    };
  };

  it("goes from the bottom of the source to the top of the user", () => {
    const { path, points } = record();
    trace(path, 10, 0, 50, 1, NaN, 60);
    expect(points).toEqual([[10, 17], [50, 43]]);
  });

  it("has at most two bends along a rail", () => {
    const { path, points } = record();
    trace(path, 10, 0, 50, 9, 200, 60);
    expect(points).toHaveLength(4);
    expect(points[1]![0]).toBe(200);
    expect(points[2]![0]).toBe(200);
    expect(points[3]).toEqual([50, 9 * 60 - 17]);
  });

  it("enters at ports from left to right that stay on the box", () => {
    expect([portOffset(0, 2), portOffset(1, 2)]).toEqual([-15, 15]);
    expect(portOffset(0, 1)).toBe(0);
    const many = Array.from({ length: 40 }, (_, i) => portOffset(i, 40));
    expect(many.every((o, i) => Math.abs(o) <= 56 && (i === 0 || o > many[i - 1]!))).toBe(true);
  });
});

describe("shared places", () => {
  /** Random lifetimes within 50 steps. */
  const living = (n: number, m: number, seed: number): LayoutInput => {
    const rand = random(seed);
    const from = Int32Array.from({ length: n }, () => Math.floor(rand() * 50));
    const to = from.map((f) => Math.min(50, f + Math.floor(rand() * 12)));
    return { ...randomInput(n, m, 0.02, seed), life: { from, to } };
  };

  it.each([1, 2, 3, 4])("never hold two nodes that one step shows, seed %i", (seed) => {
    const given = living(160, 320, seed);
    const { from, to } = given.life!;
    const l = layout(given);
    let shared = 0;
    for (let a = 0; a < given.n; a++)
      for (let b = a + 1; b < given.n; b++) {
        if (l.row[a] !== l.row[b]) continue;
        const apart = Math.abs(l.x[a]! - l.x[b]!);
        if (from[a]! <= to[b]! && from[b]! <= to[a]!) expect(apart).toBeGreaterThanOrEqual(COLUMN - 1);
        if (apart === 0) shared++;
      }
    expect(shared).toBeGreaterThan(20);
    expect(quality(given, l).upward).toBe(0);
    expect(l.width).toBeLessThan(layout({ ...given, life: undefined }).width);
  });

  it("are taken over from the node that had the same user", () => {
    // 0 and 1 stay; 2 makes room for 3 in step 2, 4 for 5: all of them used by 6.
    const edges = [0, 1, 2, 3, 4, 5].map((v): [number, number] => [v, 6]);
    const from = Int32Array.from([0, 0, 0, 3, 0, 3, 0]);
    const to = Int32Array.from([9, 9, 2, 9, 2, 9, 9]);
    const l = layout({ ...input(7, edges), life: { from, to } });
    const places = [...new Set([0, 1, 2, 3, 4, 5].map((v) => l.x[v]!))];
    expect(places).toHaveLength(4);
    expect(l.width).toBe(3 * COLUMN);
  });
});
