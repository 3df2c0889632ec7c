import { describe, expect, it } from "vitest";
import type { Bundle } from "../../src/data/messages/bundle";
import { describeSlot, stepDiff } from "../../src/model/diff";
import { Replay } from "../../src/model/replay";
import { BundleError, Timeline } from "../../src/model/timeline";
import { bundleOf, designBundle, type Graph, random } from "./fixtures";

/** A random acyclic graph with one sink. */
function randomGraph(nodes: number, seed: number): Graph {
  const rand = random(seed);
  const op: string[] = [];
  const edges: [number, number][] = [];
  const ops = ["ADD", "MUL", "LOAD", "CONST", "RANGE", "IDIV"];
  for (let v = 0; v < nodes; v++) {
    op.push(ops[Math.floor(rand() * ops.length)]!);
    if (v > 3)
      for (let i = 0; i < 1 + rand() * 3; i++) edges.push([Math.floor(rand() * v), v]);
  }
  const used = new Set(edges.map(([s]) => s));
  op.push("SINK");
  for (let v = 0; v < nodes; v++) if (!used.has(v)) edges.push([v, nodes]);
  return { op, edges };
}

/** State k by applying the deltas one after the other, as the contract says. */
function plainState(b: Bundle, k: number): Map<number, { node: number; src: number[] }> {
  const state = new Map<number, { node: number; src: number[] }>();
  b.initial.slot.forEach((s, i) =>
    state.set(s, { node: b.initial.node[i]!, src: b.initial.src[i]! }),
  );
  for (const step of b.steps.slice(0, k)) {
    for (const [s, node, src] of step.set) state.set(s, { node, src });
    for (const s of step.drop) state.delete(s);
  }
  return state;
}

function check(replay: Replay, b: Bundle, k: number): void {
  const plain = plainState(b, k);
  expect([...replay.slots()]).toEqual([...plain.keys()].sort((x, y) => x - y));
  expect(replay.count).toBe(plain.size);
  const users = new Map<number, Set<number>>();
  for (const [s, { node, src }] of plain) {
    expect(replay.nodeOf(s)).toBe(node);
    expect(replay.srcOf(s)).toEqual(src);
    for (const t of src) users.set(t, (users.get(t) ?? new Set()).add(s));
  }
  for (const s of plain.keys())
    expect(replay.usersOf(s)).toEqual([...(users.get(s) ?? [])].sort((x, y) => x - y));
}

describe("replay", () => {
  const seeds = [1, 2, 3, 20260];
  it.each(seeds)("equals the plain application of the deltas at every step, seed %i", (seed) => {
    const b = bundleOf(randomGraph(60, seed), 40, seed);
    const replay = new Replay(b);
    for (let k = 0; k <= b.steps.length; k++) {
      replay.goto(k);
      check(replay, b, k);
    }
    for (let k = b.steps.length; k >= 0; k--) {
      replay.goto(k);
      check(replay, b, k);
    }
  });

  it.each(seeds)("jumps anywhere, seed %i", (seed) => {
    const b = bundleOf(randomGraph(12, seed), 200, seed);
    const replay = new Replay(b);
    const rand = random(seed);
    for (let i = 0; i < 60; i++) {
      const k = Math.floor(rand() * (b.steps.length + 1));
      replay.goto(k);
      check(replay, b, k);
    }
  });

  it("stays inside the steps there are", () => {
    const replay = new Replay(designBundle());
    replay.goto(99);
    expect(replay.step).toBe(1);
    replay.goto(-5);
    expect(replay.step).toBe(0);
    expect(replay.nodeOf(12345)).toBe(-1);
    expect(replay.usersOf(-1)).toEqual([]);
  });

  it("keeps two edges of a node that uses one source twice", () => {
    const b = designBundle();
    b.steps[0]!.set[1]![2] = [b.initial.slot[0]!, b.initial.slot[0]!];
    const replay = new Replay(b);
    replay.goto(1);
    const edges = replay.timeline.edge[replay.version[b.steps[0]!.result]!]!;
    expect(new Set(edges).size).toBe(2);
    expect([...edges].map((e) => replay.port[e])).toEqual([0, 1]);
    expect(replay.usersOf(b.initial.slot[0]!)).toContain(b.steps[0]!.result);
  });

  it("tells what happened to a slot", () => {
    const b = designBundle();
    const replay = new Replay(b);
    const step = b.steps[0]!;
    expect(replay.history(step.moved[0]!).map((h) => h.what)).toEqual([
      "MUL in the input graph",
      "source 0 moved",
    ]);
    expect(replay.history(step.slot).at(-1)!.what).toBe("IDIV replaced by ADD");
    expect(replay.history(step.added[0]!).map((h) => h.what)).toEqual(["ADD created"]);
    expect(replay.history(step.drop[2]!).at(-1)!.what).toBe("MUL dropped");
  });

  it("refuses a bundle that contradicts itself", () => {
    const slot = designBundle();
    slot.steps[0]!.set[0]![2] = [9999];
    expect(() => new Timeline(slot)).toThrow(BundleError);
    expect(() => new Timeline(slot)).toThrow("slot 9999 does not exist, there are 28 (step 1)");
    const node = designBundle();
    node.initial.node[3] = -7;
    expect(() => new Timeline(node)).toThrow(/node -7 does not exist/);
    const lists = designBundle();
    lists.initial.src.pop();
    expect(() => new Timeline(lists)).toThrow(/differ in length/);
  });

  it("reaches any of 8,000 steps at once", () => {
    const b = bundleOf(randomGraph(400, 5), 8000, 5);
    const replay = new Replay(b);
    const started = performance.now();
    for (let i = 0; i < 20; i++) replay.goto((i * 3989) % (b.steps.length + 1));
    // Generous: 20 jumps take about 30 ms.
    expect(performance.now() - started).toBeLessThan(2000);
    check(replay, b, replay.step);
  });
});

describe("diff of a step", () => {
  it("names the edges that ended, came and moved", () => {
    const b = designBundle();
    const before = new Replay(b);
    const after = new Replay(b, before.timeline);
    after.goto(1);
    const diff = stepDiff(before, after);
    const t = before.timeline;
    const name = (s: number): string => b.ops[b.nodes.op[(after.has(s) ? after : before).nodeOf(s)]!]!;
    const say = (edges: Map<number, string>): string[] =>
      [...edges].map(([e, c]) => `${name(t.edgeSrc[e]!)}>${name(t.edgeUser[e]!)} ${c}`).sort();
    expect(say(diff.before)).toEqual([
      "ADD>IDIV removed",
      "CONST>IDIV removed",
      "CONST>MUL removed",
      "IDIV>MUL moved",
      "MUL>ADD removed",
      "RANGE>ADD removed",
      "RANGE>MUL removed",
    ]);
    expect(say(diff.after)).toEqual([
      "ADD>MUL moved",
      "CONST>IDIV added",
      "IDIV>ADD added",
      "RANGE>ADD added",
      "RANGE>IDIV added",
    ]);
    expect(diff.focus[0]).toBe(b.steps[0]!.slot);
    const moved = b.steps[0]!.moved[0]!;
    expect(describeSlot(moved, before, after, diff)).toBe(
      "MUL, int32, source 0 moved, 2 sources",
    );
  });

  it("leads the eye to where the rewrite failed, after its last step only", () => {
    const b = bundleOf(randomGraph(60, 5), 10, 5);
    const last = b.steps.length;
    const before = new Replay(b);
    const after = new Replay(b, before.timeline);
    after.goto(last);
    const [slot, other] = [...after.slots()] as [number, number];
    const error = { step: last, rule: 0, message: "", traceback: "" };
    const loop = [other, 10_000].map((s) => ({ rule: 0, step: last, slot: s }));
    b.error = { ...error, slot, loop };
    before.goto(last - 1);
    const diff = stepDiff(before, after);
    expect(diff.failed).toEqual([slot, other]);
    expect(diff.focus.slice(0, 2)).toEqual([slot, other]);
    expect(describeSlot(slot, before, after, diff)).toContain("the pass failed here");
    before.goto(last - 2);
    after.goto(last - 1);
    expect(stepDiff(before, after).failed).toEqual([]);
    b.error = error;
    before.goto(last - 1);
    after.goto(last);
    expect(stepDiff(before, after).failed).toEqual([]);
    b.error = { ...error, step: 0, slot: b.root };
    before.goto(0);
    after.goto(0);
    expect(stepDiff(before, after).focus).toEqual([b.root]);
  });

  it("is empty for the input graph", () => {
    const before = new Replay(designBundle());
    expect(stepDiff(before, before).nodes.size).toBe(0);
  });

  it.each([3, 4])("explains every edge that differs, seed %i", (seed) => {
    const b = bundleOf(randomGraph(80, seed), 60, seed);
    const before = new Replay(b);
    const after = new Replay(b, before.timeline);
    for (let k = 1; k <= b.steps.length; k++) {
      before.goto(k - 1);
      after.goto(k);
      const diff = stepDiff(before, after);
      for (let e = 0; e < before.live.length; e++) {
        if (before.live[e] && !after.live[e]) expect(diff.before.has(e)).toBe(true);
        if (after.live[e] && !before.live[e]) expect(diff.after.has(e)).toBe(true);
      }
    }
  });
});
