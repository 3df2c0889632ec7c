import { describe, expect, it } from "vitest";
import { bindSlots } from "../src/model/bindings";
import { nextPassing, passingSteps, stepsByRule, touchesSlot } from "../src/model/filter";
import { Replay } from "../src/model/replay";
import { bundleFor } from "./dev/fixture";

const b = bundleFor(7, undefined);
const none = { rule: null, op: null, node: null };

describe("filters", () => {
  it("let everything through when off, and combine", () => {
    expect(passingSteps(b, none)).toHaveLength(b.steps.length);
    const rule = b.steps[0]!.rule;
    const node = b.steps[0]!.slot;
    const both = passingSteps(b, { ...none, rule, node });
    expect(both).toContain(1);
    for (const k of both) {
      expect(b.steps[k - 1]!.rule).toBe(rule);
      expect(touchesSlot(b.steps[k - 1]!, node)).toBe(true);
    }
    expect(both.length).toBeLessThanOrEqual(passingSteps(b, { ...none, rule }).length);
  });

  it("find steps by op, and none for an op that does not occur", () => {
    expect(passingSteps(b, { ...none, op: "NO_SUCH_OP" })).toEqual([]);
    expect(passingSteps(b, { ...none, op: "MOD" }).length).toBeGreaterThan(0);
  });

  it("walk to the nearest passing step on either side", () => {
    expect(nextPassing([3, 9, 12], 9, true)).toBe(12);
    expect(nextPassing([3, 9, 12], 9, false)).toBe(3);
    expect(nextPassing([3, 9, 12], 12, true)).toBeNull();
    expect(nextPassing([3, 9, 12], 10, false)).toBe(9);
    expect(nextPassing([3, 9, 12], 0, true)).toBe(3);
    expect(nextPassing([3, 9, 12], 3, false)).toBeNull();
    expect(nextPassing([], 1, false)).toBeNull();
  });

  it("count every step of every rule once", () => {
    const counts = [...stepsByRule(b)].map(([rule, steps]) => ({ rule, count: steps.length }));
    expect(counts.reduce((n, c) => n + c.count, 0)).toBe(b.steps.length);
    expect([...counts].sort((x, y) => y.count - x.count)).toEqual(counts);
    for (const [rule, steps] of stepsByRule(b))
      expect(steps).toEqual(passingSteps(b, { ...none, rule }));
  });
});

describe("bindings", () => {
  it("stand in the graph before the step, on slots that hold the bound nodes", () => {
    const before = new Replay(b);
    b.steps.forEach((step, i) => {
      before.goto(i);
      const found = bindSlots(step, before);
      expect(found.map(([name]) => name).sort()).toEqual(step.binds.map(([name]) => name).sort());
      for (const [name, slot] of found)
        expect(step.binds).toContainEqual([name, before.nodeOf(slot)]);
    });
  });
});
