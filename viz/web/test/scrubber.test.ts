import { describe, expect, it } from "vitest";
import {
  barHeight,
  barWidth,
  columns,
  makeScale,
  snap,
  stepAt,
  ticks,
  xOf,
} from "../src/parts/strip/scale";

describe("scrubber scale", () => {
  it.each([
    [1, 800],
    [7, 300],
    [92, 960],
    [5000, 700],
    [120000, 400],
  ])("finds each of %i steps again at its own x (%i px)", (count, width) => {
    const scale = makeScale(count, width);
    for (let k = 1; k <= count; k += Math.max(1, Math.floor(count / 97)))
      expect(stepAt(scale, xOf(scale, k))).toBe(k);
    expect(xOf(scale, count)).toBeLessThanOrEqual(width - scale.margin);
  });

  it("spreads few steps over the whole strip, their bars apart", () => {
    for (const count of [1, 11, 31]) {
      const scale = makeScale(count, 900);
      expect(scale.pitch * count).toBeCloseTo(900 - 2 * scale.margin);
      expect(barWidth(scale)).toBeLessThanOrEqual(24);
    }
    expect(barWidth(makeScale(5000, 400))).toBeLessThan(1);
  });

  it("has the input graph left of step 1 and nothing beyond the last step", () => {
    const scale = makeScale(10, 500);
    expect(stepAt(scale, 0)).toBe(0);
    expect(stepAt(scale, xOf(scale, 0) + 0.1)).toBe(1);
    expect(stepAt(scale, 9999)).toBe(10);
    expect(stepAt(makeScale(0, 500), 250)).toBe(0);
  });

  it("loses no peak when many steps share a pixel", () => {
    const sizes = new Array<number>(5000).fill(1);
    sizes[3333] = 40;
    const scale = makeScale(5000, 400);
    const cols = columns(scale, sizes);
    expect(cols.length).toBeLessThanOrEqual(400);
    expect(Math.max(...cols.map((c) => c.value))).toBe(40);
    expect(cols.reduce((n, c) => n + c.size, 0)).toBe(5000);
    const peak = cols.find((c) => c.value === 40)!;
    expect(peak.first).toBeLessThanOrEqual(3334);
    expect(peak.first + peak.size).toBeGreaterThan(3334);
  });

  it("snaps to a passing step only within reach", () => {
    const scale = makeScale(100, 1032);
    expect(snap(scale, 50, [49, 80])).toBe(50);
    expect(snap(makeScale(1000, 1032), 500, [497, 800])).toBe(497);
  });

  it("draws few round ticks", () => {
    expect(ticks(makeScale(92, 960), 10)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(ticks(makeScale(7, 960), 10)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ticks(makeScale(123456, 960), 8).length).toBeLessThanOrEqual(8);
    expect(ticks(makeScale(1, 960), 8)).toEqual([]);
  });

  it("shows every change and keeps the order of sizes", () => {
    expect(barHeight(0, 10, 30)).toBeGreaterThan(0);
    expect(barHeight(1, 10000, 30)).toBeGreaterThanOrEqual(2);
    expect(barHeight(100, 100, 30)).toBe(30);
    expect(barHeight(20, 100, 30)).toBeLessThan(barHeight(40, 100, 30));
  });
});
