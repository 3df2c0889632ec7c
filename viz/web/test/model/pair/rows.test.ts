import { describe, expect, it } from "vitest";
import { pairsInputOf } from "../../../src/model/around/around";
import { layout, type Layout } from "../../../src/model/layered";
import { quality } from "../../../bench/quality";
import { AROUND } from "../../../src/model/fold/neighbourhood";
import { Pages, placeIn } from "../../../src/model/around/pages";
import { joint } from "../../../src/model/pair/joint";
import {
  alignedPairs, kindOfRow, kindsIn, nextDifference, pairedUp, rowOfStep, rowsOf, withStates,
} from "../../../src/model/pair/rows";
import type { Bundle, Step } from "../../../src/data/messages/bundle";
import { Replay } from "../../../src/model/replay";
import { type Graph, mesh, chains, pairOf, type PairOfPasses } from "../fixtures";

const align = (steps: [number, number][], equal: boolean[] = []) => ({ steps, equal });

describe("rows", () => {
  it("take both sides through their steps, with gaps where one has none", () => {
    const rows = rowsOf(align([[1, 1], [2, 0], [0, 2], [3, 3]], [true, false, false, false]), 3, 3);
    expect([...rows.a]).toEqual([0, 1, 2, 2, 3]);
    expect([...rows.b]).toEqual([0, 1, 1, 2, 3]);
    expect([1, 2, 3, 4].map((r) => kindOfRow(rows, r))).toEqual(["same", "onlyA", "onlyB", "differs"]);
  });

  it("go through every step once, whatever an answer says", () => {
    for (const steps of [[], [[9, 9], [0, 0], [-1, 4]], Array<[number, number]>(50).fill([1, 1])]) {
      const rows = rowsOf(align(steps as [number, number][], steps.map(() => true)), 3, 5);
      expect(rows.a[rows.count]).toBe(3);
      expect(rows.b[rows.count]).toBe(5);
      for (let r = 1; r <= rows.count; r++) {
        expect(rows.a[r]! - rows.a[r - 1]! + rows.b[r]! - rows.b[r - 1]!).toBeGreaterThan(0);
        expect(rows.a[r]! - rows.a[r - 1]!).toBeLessThanOrEqual(1);
      }
      expect(kindOfRow(rows, rows.count)).not.toBe("same");
    }
  });

  it("stand side by side where both match the same node", () => {
    const step = (slot: number) => ({ slot }) as Step;
    // A: 5 7 9 4; then the turn; B: 5 8 9 4
    const steps = [5, 7, 9, 4, 0, 5, 8, 9, 4].map(step);
    const both = { bundle: { steps } as Bundle, first: 5 };
    const gaps: [number, number][] = [[1, 0], [2, 0], [3, 0], [0, 1], [0, 2], [0, 3], [4, 4]];
    const paired = pairedUp(align(gaps, gaps.map((_, i) => i === 6)), both);
    expect(paired.steps).toEqual([[1, 1], [2, 0], [0, 2], [3, 3], [4, 4]]);
    expect(paired.equal).toEqual([false, false, false, false, true]);
    const rows = rowsOf(paired, 4, 4);
    expect(kindsIn(rows)).toEqual({ same: 1, differs: 2, onlyA: 1, onlyB: 1 });
  });

  it("keep their order on both sides, however steps are paired up", () => {
    const { pair, both } = pairsOf(...cases[0]!);
    const { steps } = pairedUp(pair, both);
    for (const side of [0, 1] as const) {
      const own = (all: [number, number][]): number[] => all.map((row) => row[side]).filter((k) => k > 0);
      expect(own(steps)).toEqual(own(pair.steps));
    }
    expect(steps.length).toBeLessThanOrEqual(pair.steps.length);
  });

  it("find the next difference and the row of a step", () => {
    const rows = rowsOf(align([[1, 1], [2, 0], [3, 2], [4, 3]], [true, false, true, false]), 4, 3);
    expect(nextDifference(rows, 0, 1)).toBe(2);
    expect(nextDifference(rows, 2, 1)).toBe(4);
    expect(nextDifference(rows, 4, 1)).toBeNull();
    expect(nextDifference(rows, 4, -1)).toBe(2);
    expect(nextDifference(rows, 2, -1)).toBeNull();
    expect([0, 1, 2, 3, 99].map((k) => rowOfStep(rows, "b", k))).toEqual([0, 1, 3, 4, 4]);
  });
});

const cases: [string, Graph, number, number, number][] = [
  ["chains", chains(30, 20), 60, 3, 20],
  ["a mesh", mesh(600, 5), 80, 5, 30],
  ["a small mesh", mesh(70, 2), 30, 7, 9],
];
/** Crossings per edge that nobody sees. */
const NOTHING = 0.02;
const made = new Map<string, PairOfPasses>();
const pairsOf = (name: string, graph: Graph, count: number, seed: number, same: number) => {
  const pair = made.get(name) ?? pairOf(graph, count, seed, same);
  made.set(name, pair);
  const both = joint(pair.a, pair.b, pair.slots);
  const rows = rowsOf(pairedUp(pair, both), both.stepsA, both.stepsB);
  return { pair, both, rows, pairs: alignedPairs(both, rows) };
};

describe("walking two passes in step", () => {
  it.each(cases)("moves nothing that neighbouring rows draw: %s", (...one) => {
    const { rows, pairs } = pairsOf(...one);
    const pages = new Pages(pairs, { ...AROUND, changed: pairs.changed });
    let survivors = 0;
    let was = pages.of(0);
    for (let r = 1; r <= rows.count; r++) {
      const now = pages.of(r);
      const before = pages.drawn.at(r - 1);
      for (const s of pages.drawn.at(r)) {
        if (!before.has(s) || pages.drawn.folded(r).has(s) || pages.drawn.folded(r - 1).has(s)) continue;
        survivors++;
        expect([r, s, placeIn(now, s)]).toEqual([r, s, placeIn(was, s)]);
      }
      was = now;
    }
    expect(survivors).toBeGreaterThan(rows.count);
  });

  it.each(cases)("is the same until the passes go apart, and shows the matches first: %s", (...one) => {
    const { both, pairs } = pairsOf(...one);
    const t = pairs.timeline;
    const [before, after] = [new Replay(both.bundle, t), new Replay(both.bundle, t)];
    const diff = pairs.differ(before, after);
    const at = (r: number) => {
      before.goto(pairs.before(r));
      after.goto(pairs.after(r));
      return diff(r);
    };
    const same = one[4];
    for (let r = 0; r <= same; r++) expect([r, at(r).nodes.size]).toEqual([r, 0]);
    const first = at(same + 1);
    expect(first.nodes.size).toBeGreaterThan(0);
    const step = both.bundle.steps[pairs.before(same + 1) - 1]!;
    expect(first.focus).toContain(before.has(step.result) ? step.result : step.slot);
  });

  it.each(cases)("draws no edge up and no two boxes on each other: %s", (...one) => {
    const { pairs, rows } = pairsOf(...one);
    const pages = new Pages(pairs, { ...AROUND, changed: pairs.changed });
    for (let r = 0; r <= rows.count; r += 3) {
      const page = pages.of(r);
      const input = pairsInputOf(pairs, page.slots, page.first, page.last);
      const q = quality(input, page.layout);
      expect([r, q.overlaps, q.upward]).toEqual([r, 0, 0]);
    }
  });

  it.each(cases)("crosses edges at most half as often again as a fresh layout: %s", (...one) => {
    const { pairs, rows, both } = pairsOf(...one);
    const pages = new Pages(pairs, { ...AROUND, changed: pairs.changed });
    let [kept, fresh] = [0, 0];
    for (let r = 0; r <= rows.count; r++) {
      const page = pages.of(r);
      const alone = alignedPairs(both, {
        ...{ count: 0, equal: new Uint8Array(1) },
        ...{ a: Int32Array.of(rows.a[r]!), b: Int32Array.of(rows.b[r]!) },
      });
      const slots = Int32Array.from([...pages.drawn.at(r)].filter((s) => placeIn(page, s))).sort();
      const input = pairsInputOf(alone, slots, 0, 0);
      kept += quality(input, placed(slots, page)).crossings;
      fresh += quality(input, layout(input)).crossings;
    }
    // Chains cross next to nothing: there a ratio would be one of two accidents.
    if (fresh > NOTHING * rows.count) expect(kept).toBeLessThanOrEqual(1.5 * fresh);
    else expect(kept).toBeLessThanOrEqual(1.5 * NOTHING * rows.count);
  });

  it("shows any two states, where everything has its place anyhow without moving it", () => {
    const { both, pair, pairs } = pairsOf(...cases[2]!);
    const free = withStates(pairs, 3, both.first, 4, 20);
    const t = free.timeline;
    const [before, after] = [new Replay(both.bundle, t), new Replay(both.bundle, t)];
    const [a, b] = [new Replay(pair.a), new Replay(pair.b)];
    before.goto(free.before(3));
    after.goto(free.after(3));
    a.goto(4);
    b.goto(20);
    expect([before.count, after.count]).toEqual([a.count, b.count]);
    expect([free.before(2), free.after(2)]).toEqual([pairs.before(2), pairs.after(2)]);
    const [page, aligned] = [new Pages(free, { ...AROUND, changed: free.changed }), new Pages(pairs, { ...AROUND, changed: pairs.changed })];
    expect(page.whole).not.toBeNull();
    expect(page.whole!.layout).toEqual(aligned.whole!.layout);
  });

  it("has a place for all that two states far apart draw", () => {
    const { both, pairs } = pairsOf(...cases[1]!);
    const free = withStates(pairs, 3, both.first, 60, 5);
    const pages = new Pages(free, { ...AROUND, changed: free.changed });
    const page = pages.of(3);
    expect(page.first).toBeLessThanOrEqual(3);
    for (const s of pages.drawn.at(3)) expect(placeIn(page, s)).toBeDefined();
    const q = quality(pairsInputOf(free, page.slots, page.first, page.last), page.layout);
    expect([q.overlaps, q.upward]).toEqual([0, 0]);
  });
});

/** Some slots of a page, as a layout of their own. */
function placed(slots: Int32Array, page: ReturnType<Pages["of"]>): Layout {
  const { layout: l } = page;
  const place = new Map([...page.slots].map((s, i) => [s, i]));
  const at = Array.from(slots, (s) => place.get(s)!);
  return {
    ...l,
    x: Float64Array.from(at, (i) => l.x[i]!),
    row: Int32Array.from(at, (i) => l.row[i]!),
    rail: Float64Array.from(at, (i) => l.rail[i]!),
    hub: Uint8Array.from(at, (i) => l.hub[i]!),
  };
}
