import { describe, expect, it } from "vitest";
import { Replay } from "../src/model/replay";
import { textDiff } from "../src/panels/centre/textdiff";
import { bundleFor } from "./dev/fixture";

const b = bundleFor(7, undefined);

function sides(k: number): [Replay, Replay] {
  const before = new Replay(b);
  const after = new Replay(b, before.timeline);
  before.goto(k - 1);
  after.goto(k);
  return [before, after];
}

describe("text diff", () => {
  it("holds every node of both graphs once", () => {
    for (let k = 1; k <= b.steps.length; k++) {
      const [before, after] = sides(k);
      const lines = textDiff(before, after);
      expect(lines.filter((l) => l.kind !== "add")).toHaveLength(before.count);
      expect(lines.filter((l) => l.kind !== "del")).toHaveLength(after.count);
    }
  });

  it("is as large as the change, however many nodes above it were rebuilt", () => {
    for (let k = 1; k <= b.steps.length; k++) {
      const step = b.steps[k - 1]!;
      const changed = textDiff(...sides(k)).filter((l) => l.kind !== "same").length;
      expect(changed).toBeGreaterThan(0);
      expect(changed).toBeLessThanOrEqual(
        step.removed.length + step.added.length + 2 * step.moved.length,
      );
    }
  });

  it("puts every source above its user and changes nothing without a step", () => {
    const [, after] = sides(1);
    const lines = textDiff(after, after);
    expect(lines.every((l) => l.kind === "same")).toBe(true);
    const known = new Set<string>();
    for (const { text } of lines) {
      const [self, rest] = text.split(" = ");
      for (const used of rest!.match(/\bu\d+\b/g) ?? []) expect(known).toContain(used);
      known.add(self!);
    }
  });
});
