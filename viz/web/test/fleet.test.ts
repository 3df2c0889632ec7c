import { describe, expect, it } from "vitest";
import { bounded, commitAt, marksOf, revealing, xOf, zoomed } from "../src/panels/fleet/plotScale";

describe("the scale of a figure over commits", () => {
  it("finds each commit at its own place, whatever is shown", () => {
    for (const range of [
      [0, 50],
      [7.5, 21.25],
      [46, 50],
    ] as const)
      for (let c = Math.ceil(range[0]); c < Math.floor(range[1]); c++)
        expect(commitAt(range, xOf(range, c, 640), 640, 50)).toBe(c);
  });

  it("stays within the commits, and keeps what is at the pointer while it zooms", () => {
    const near = zoomed([0, 100], 4, 0.3, 100);
    expect(near).toEqual([22.5, 47.5]);
    expect(zoomed(near, 1 / 4, 0.3, 100)).toEqual([0, 100]);
    expect(zoomed([0, 100], 1e9, 0, 100)).toEqual([0, 4]);
    expect(zoomed([0, 100], 1e-9, 0.5, 100)).toEqual([0, 100]);
    expect(bounded([95, 105], 100)).toEqual([90, 100]);
    expect(bounded([0, 9], 2)).toEqual([0, 2]);
    expect(revealing([10, 20], 25, 100)).toEqual([16, 26]);
    expect(revealing([10, 20], 12, 100)).toEqual([10, 20]);
  });

  it("draws no more than a mark for each pixel of what is shown, and no value is outside of its mark", () => {
    const at = Array.from({ length: 100_000 }, (_, i) => i);
    const points = at.map((i) => ({
      commit: String(i),
      median: i % 7,
      low: (i % 7) - 1,
      high: (i % 7) + 2,
      runs: 3,
      run: "r",
    }));
    const all = marksOf(points, at, [0, at.length], 800);
    expect(all.length).toBeLessThanOrEqual(802);
    expect(Math.min(...all.map((m) => m.low))).toBe(-1);
    expect(Math.max(...all.map((m) => m.high))).toBe(8);
    const some = marksOf(points, at, [500, 510], 800);
    expect(some.map((m) => m.median)).toEqual(
      [499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 511].map((i) => i % 7),
    );
  });
});
