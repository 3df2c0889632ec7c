import { describe, expect, it } from "vitest";
import type { Bundle, Dialect } from "../../src/data/messages/bundle";
import { Drawn } from "../../src/model/around/around";
import { stepDiff } from "../../src/model/diff";
import { AROUND, neighbourhood, type Neighbourhood } from "../../src/model/fold/neighbourhood";
import { groupAt, OP_GROUPS, shortOp, wordsOf } from "../../src/model/ops";
import { stepPairs } from "../../src/model/pair/statePairs";
import { Replay } from "../../src/model/replay";
import { dialect } from "../dev/dialect";
import { bundleOf, chains, designBundle } from "./fixtures";

function at(b: ReturnType<typeof bundleOf>, k: number, options = AROUND): [Neighbourhood, Replay, Replay] {
  const before = new Replay(b);
  const after = new Replay(b, before.timeline);
  before.goto(k - 1);
  after.goto(k);
  return [neighbourhood(before, after, stepDiff(before, after), options), before, after];
}

describe("neighbourhood", () => {
  it("shows the change and what is near, and no more than its budget", () => {
    const b = bundleOf(chains(40, 20), 30);
    for (let k = 1; k <= b.steps.length; k++) {
      const [part, before, after] = at(b, k);
      const step = b.steps[k - 1]!;
      const changed = new Set([...step.removed, ...step.added, ...step.moved]);
      for (const s of [...changed].slice(0, 30)) expect(part.shown.has(s)).toBe(true);
      expect(part.shown.size).toBeLessThanOrEqual(changed.size + 2 + AROUND.budget + 40);
      for (const s of part.shown) expect(before.has(s) || after.has(s)).toBe(true);
    }
  });

  it("folds the rest into groups that are not shown, each node in one group", () => {
    const b = bundleOf(chains(6, 30), 10);
    const [part] = at(b, 4);
    const heads = part.groups.flatMap((g) => g.heads);
    expect(new Set(heads).size).toBe(heads.length);
    for (const g of part.groups) {
      expect(g.heads.every((s) => !part.shown.has(s))).toBe(true);
      expect(g.anchors.every((s) => part.shown.has(s))).toBe(true);
      expect(g.count).toBeGreaterThanOrEqual(g.heads.length);
      expect(g.label).toMatch(/^[\d,]+\+? more: [A-Z]/);
    }
  });

  it("counts a whole chain that hangs below", () => {
    // One chain of 60 nodes: whatever lies beyond the budget hangs above or below.
    const b = bundleOf(chains(1, 60), 3, 5);
    const [part, , after] = at(b, 1);
    const counted = part.groups.reduce((sum, g) => sum + g.count, 0);
    const shown = [...part.shown].filter((s) => after.has(s)).length;
    expect(shown + counted).toBe(after.count);
  });

  it("shows a small graph as it is", () => {
    const b = bundleOf(chains(4, 12), 10);
    for (let k = 1; k <= b.steps.length; k++) {
      const [part, before, after] = at(b, k);
      expect(part.groups).toEqual([]);
      expect(part.shown).toEqual(new Set([...before.slots(), ...after.slots()]));
    }
  });

  it("never folds fewer than four nodes", () => {
    for (const graph of [chains(6, 30), chains(40, 3), chains(25, 5)]) {
      const b = bundleOf(graph, 20);
      for (let k = 1; k <= b.steps.length; k++)
        for (const g of at(b, k)[0].groups) {
          expect(g.count).toBeGreaterThanOrEqual(4);
          expect(g.names.length).toBeGreaterThan(0);
        }
    }
  });

  it("opens what the reader asked for", () => {
    const b = bundleOf(chains(6, 30), 10);
    const [closed] = at(b, 4);
    const group = closed.groups[0]!;
    const [open] = at(b, 4, { ...AROUND, opened: new Set(group.heads) });
    expect(group.heads.every((s) => open.shown.has(s))).toBe(true);
  });

  it("folds what it must not show, even alone and even where it changed", () => {
    const b = bundleOf(chains(6, 30), 10);
    const [all] = at(b, 4);
    for (const s of all.shown) {
      const [part] = at(b, 4, { ...AROUND, without: new Set([s]) });
      expect(part.shown.has(s)).toBe(false);
    }
  });

  it("can leave constants out", () => {
    const b = designBundle();
    const [part, , after] = at(b, 1, { ...AROUND, foldConstants: true });
    for (const s of part.shown) expect(groupAt(b, after.nodeOf(s))).not.toBe("const");
  });

  it("survives a hub whose every user moved", () => {
    const b = bundleOf(chains(500, 3), 20, 3);
    for (let k = 1; k <= b.steps.length; k++) {
      const [part] = at(b, k);
      expect(part.shown.size).toBeLessThan(200);
    }
  });
});

describe("what steps draw", () => {
  it("is what their neighbourhoods show, and the first of each group", () => {
    const b = bundleOf(chains(6, 30), 10);
    const drawn = new Drawn(stepPairs(new Replay(b).timeline), AROUND);
    for (let k = 1; k <= b.steps.length; k++) {
      const [part] = at(b, k);
      expect([...drawn.at(k)]).toEqual([...part.shown, ...part.groups.map((g) => g.heads[0]!)]);
    }
  });

  it("leaves out what a step folds, until that is forgotten", () => {
    const drawn = new Drawn(stepPairs(new Replay(bundleOf(chains(6, 30), 10)).timeline), AROUND);
    const all = drawn.at(4);
    const slot = [...all][3]!;
    drawn.fold(4, new Set([slot]));
    expect(drawn.folded(4)).toEqual(new Set([slot]));
    expect(drawn.folded(5).size).toBe(0);
    expect([...drawn.at(4)]).not.toEqual([...all]);
    drawn.unfold();
    expect(drawn.at(4)).toEqual(all);
  });
});

describe("op groups", () => {
  const ops = "LOAD RANGE ADD CONST REDUCE RESHAPE SINK DEVICE SOMETHING_NEW".split(" ");
  const bundle = (dialect?: Dialect): Bundle =>
    ({ ...bundleOf(chains(1, 1), 0), ops, nodes: { op: ops.map((_, c) => c) }, dialect }) as Bundle;
  const groups = (b: Bundle): string[] => ops.map((_, c) => groupAt(b, c));

  it("are those of the dialect, and of what it does not know none", () => {
    expect(groups(bundle(dialect))).toEqual([
      "memory", "range", "arithmetic", "const", "reduce", "movement", "control", "device", "other",
    ]);
    expect(new Set(groups(bundle(dialect)))).toEqual(new Set(OP_GROUPS));
    expect(new Set(groups(bundle()))).toEqual(new Set(["other"]));
    const odd = { ...dialect, ops: { LOAD: { group: "loud" }, ADD: {} } };
    expect(new Set(groups(bundle(odd)))).toEqual(new Set(["other"]));
  });

  it("go by the beginnings of names where a dialect says so", () => {
    const ops = { "arith.": { group: "arithmetic", short: "a" }, "arith.x.y": { group: "memory" } };
    const mlir = { ...dialect, ops };
    expect(["arith.add", "arith.x.z", "arith.x.y", "arith", "tt.load", "constructor"].map(
      (op) => wordsOf(mlir, op).group,
    )).toEqual(["arithmetic", "arithmetic", "memory", undefined, undefined, undefined]);
    expect(shortOp(bundle(mlir), "arith.add")).toBe("a");
    expect(shortOp(bundle(mlir), "tt.load")).toBe("load");
    expect(shortOp(bundle(mlir), "odd.")).toBe("odd.");
  });
});
