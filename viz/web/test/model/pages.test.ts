import { describe, expect, it } from "vitest";
import { allSlots } from "../../src/model/around/around";
import { BOX_W } from "../../src/model/layered";
import { AROUND } from "../../src/model/fold/neighbourhood";
import { Pages, placeIn } from "../../src/model/around/pages";
import { stepPairs } from "../../src/model/pair/statePairs";
import { Replay } from "../../src/model/replay";
import { bundleOf, chains, designBundle, type Graph, mesh, random } from "./fixtures";

const cases: [string, Graph, number, number][] = [
  ["chains", chains(60, 20), 120, 3],
  ["a mesh", mesh(600, 5), 120, 5],
  ["a mesh with scattered matches", mesh(900, 8), 100, 8],
];

function pagesOf(graph: Graph, steps: number, seed: number): [Pages, number, Replay] {
  const b = bundleOf(graph, steps, seed);
  const replay = new Replay(b);
  return [new Pages(stepPairs(replay.timeline), AROUND), b.steps.length, replay];
}

/** Steps from one step to the next: nothing that both draw may move. Counts turns and survivors. */
function walk(pages: Pages, steps: readonly number[]): [number, number] {
  let [turns, survivors] = [0, 0];
  for (let i = 1; i < steps.length; i++) {
    const [from, to] = [steps[i - 1]!, steps[i]!];
    const was = pages.of(from);
    const now = pages.of(to);
    expect(now.world).toBe(was.world);
    if (was !== now) turns++;
    const before = pages.drawn.at(from);
    for (const s of pages.drawn.at(to)) {
      const folded = pages.drawn.folded(to).has(s) || pages.drawn.folded(from).has(s);
      if (!before.has(s) || folded) continue;
      survivors++;
      expect([s, placeIn(now, s)]).toEqual([s, placeIn(was, s)]);
    }
  }
  return [turns, survivors];
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + (to > from ? i : -i));

describe("pages", () => {
  it.each(cases)("move nothing that neighbouring steps draw, and fold little: %s", (_, graph, steps, seed) => {
    const [pages, last] = pagesOf(graph, steps, seed);
    const middle = last >> 1;
    const way = [...range(middle, last), ...range(last, 0), ...range(0, middle)];
    const [turns, survivors] = walk(pages, way);
    expect(turns).toBeGreaterThan(10);
    expect(survivors).toBeGreaterThan(2 * turns);
    const folded = range(0, last).reduce((sum, k) => sum + pages.drawn.folded(k).size, 0);
    expect(folded).toBeLessThan(survivors / 50);
  });

  it.each(cases)("draw no edge up and no two boxes on each other: %s", (_, graph, steps, seed) => {
    const [pages, last, after] = pagesOf(graph, steps, seed);
    const before = new Replay(after.bundle, after.timeline);
    for (const k of [...range(last >> 1, last), ...range(last >> 1, 0)]) {
      const page = pages.of(k);
      const drawn = [...pages.drawn.at(k)];
      const at = new Map(drawn.map((s) => [s, placeIn(page, s)!]));
      before.goto(k - 1);
      after.goto(k);
      for (const s of drawn) {
        for (const t of drawn)
          if (s < t && at.get(s)!.row === at.get(t)!.row)
            expect(Math.abs(at.get(s)!.x - at.get(t)!.x)).toBeGreaterThan(BOX_W);
        for (const replay of [before, after])
          for (const t of replay.srcOf(s))
            if (at.has(t)) expect(at.get(t)!.row).toBeLessThan(at.get(s)!.row);
      }
    }
  });

  it("are shown again on the way back, and are the same for the same way", () => {
    const [, graph, steps, seed] = cases[1]!;
    const [pages, last] = pagesOf(graph, steps, seed);
    const there = range(0, last).map((k) => pages.of(k));
    expect(range(last, 0).map((k) => pages.of(k))).toEqual(there.toReversed());
    const [again] = pagesOf(graph, steps, seed);
    expect(range(0, last).map((k) => again.of(k))).toEqual(there);
  });

  it("are forgotten far from the reader, and nothing moves on the way back to them", () => {
    const [, graph, steps, seed] = cases[1]!;
    const b = bundleOf(graph, steps, seed);
    const { timeline } = new Replay(b);
    const pages = new Pages(stepPairs(timeline), AROUND, undefined, 3);
    const last = b.steps.length;
    const first = pages.of(0);
    const [turns] = walk(pages, [...range(0, last), ...range(last, 0)]);
    expect(turns).toBeGreaterThan(10);
    expect(pages.of(0)).not.toBe(first);
    expect(pages.of(0).world).toBe(first.world);
  });

  it("hold a bounded number of steps, however little these change", () => {
    const b = bundleOf(chains(60, 20), 1);
    const steps = Array.from({ length: 500 }, () => b.steps[0]!);
    const { timeline } = new Replay({ ...b, steps });
    const pages = new Pages(stepPairs(timeline), AROUND);
    const page = pages.of(10);
    expect(page.last - page.first).toBeGreaterThan(10);
    expect(page.last - page.first).toBeLessThan(64);
    expect(pages.of(page.last + 1).world).toBe(page.world);
  });

  it("hold every step after a jump", () => {
    const [, graph, steps, seed] = cases[0]!;
    const [pages, last] = pagesOf(graph, steps, seed);
    const rand = random(3);
    for (let i = 0; i < 12; i++) {
      const k = Math.floor(rand() * last);
      const page = pages.of(k);
      expect(page.first <= k && k <= page.last).toBe(true);
      for (const s of pages.drawn.at(k)) expect(placeIn(page, s)).toBeDefined();
    }
  });

  it.each(cases.flatMap((c) => [2, 3, 7].map((by) => [c[0], by, c[1], c[2], c[3]] as const)))(
    "move next to nothing that both ends of a jump draw: %s, by %i",
    (_, by, graph, steps, seed) => {
      const [pages, last] = pagesOf(graph, steps, seed);
      let [survivors, moved] = [0, 0];
      for (let k = by; k <= last; k += by) {
        const was = pages.of(k - by);
        const before = new Set(pages.drawn.at(k - by));
        const now = pages.of(k);
        for (const s of pages.drawn.at(k)) {
          if (!before.has(s)) continue;
          survivors++;
          const [a, b] = [placeIn(was, s)!, placeIn(now, s)!];
          if (now.world !== was.world || a.x !== b.x || a.row !== b.row) moved++;
        }
      }
      expect(survivors).toBeGreaterThan(10);
      expect(moved).toBeLessThanOrEqual(1 + 0.06 * survivors);
    },
  );

  it("are a world of their own where two steps share nothing", () => {
    const [pages, last] = pagesOf(chains(60, 20), 120, 3);
    const worlds = new Set(range(0, last).map((i) => pages.of((i * 37) % last).world));
    expect(worlds.size).toBeGreaterThan(1);
  });

  it("keep what is drawn where it is while the reader opens more", () => {
    const b = bundleOf(chains(60, 20), 60);
    const { timeline } = new Replay(b);
    const closed = new Pages(stepPairs(timeline), AROUND);
    const was = closed.of(30);
    const heads = [...closed.drawn.at(30)].slice(-1);
    const open = new Pages(stepPairs(timeline), { ...AROUND, opened: new Set(heads) });
    const now = open.start(30, was);
    expect(now.world).toBe(was.world);
    const both = [...open.drawn.at(30)].filter((s) => closed.drawn.at(30).has(s));
    const stay = both.filter((s) => placeIn(now, s)!.x === placeIn(was, s)!.x);
    expect(stay.length).toBeGreaterThan(0.9 * both.length);
    expect(open.drawn.at(30).size).toBeGreaterThan(closed.drawn.at(30).size);
  });

  it("are one for a small rewrite, with every slot that ever was", () => {
    const b = designBundle();
    const { timeline } = new Replay(b);
    const pages = new Pages(stepPairs(timeline), AROUND);
    const page = pages.of(1);
    expect([page.first, page.last]).toEqual([0, 1]);
    expect(page.slots).toEqual(allSlots(timeline));
    expect(pages.of(0)).toBe(page);
  });
});
