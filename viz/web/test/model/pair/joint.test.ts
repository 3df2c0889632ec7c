import { describe, expect, it } from "vitest";
import type { Bundle } from "../../../src/data/messages/bundle";
import { roleOf } from "../../../src/model/content";
import { stepDiff } from "../../../src/model/diff";
import { commonArg, Differ, kindsOf } from "../../../src/model/pair/differ";
import { type Joint, joint } from "../../../src/model/pair/joint";
import { Replay } from "../../../src/model/replay";
import { BundleError, timelineOf } from "../../../src/model/timeline";
import { chains, designBundle, mesh, pairOf, random } from "../fixtures";

const SEED = Number(process.env["SEED"] ?? 11);
const pair = pairOf(mesh(120, 3), 40, SEED, 12);

/** The nodes of a state, with what they are and what they use: by slot of the joint bundle. */
function stateOf(replay: Replay, slot: (s: number) => number): Map<number, string> {
  const { bundle } = replay;
  const all = new Map<number, string>();
  for (const s of replay.slots()) {
    const c = replay.nodeOf(s);
    const { op, dtype, arg, id, ranges } = bundle.nodes;
    const words = [bundle.ops[op[c]!], bundle.dtypes[dtype[c]!], bundle.args[arg[c]!] ?? ""];
    all.set(slot(s), [...words, id[c], ranges[c], replay.srcOf(s).map(slot).join()].join(" "));
  }
  return all;
}

function expectSame(both: Joint, a: Bundle | null, b: Bundle | null): void {
  const whole = new Replay(both.bundle);
  for (const [one, first, slot] of [
    [a, 0, (s: number) => s],
    [b, both.first, (s: number) => both.slotOfB[s]!],
  ] as const) {
    if (!one) continue;
    const own = new Replay(one);
    for (let k = 0; k <= one.steps.length; k++) {
      own.goto(k);
      whole.goto(first + k);
      expect(stateOf(whole, (s) => s), `seed ${SEED}, state ${k}`).toEqual(stateOf(own, slot));
    }
  }
}

describe("two passes as one bundle", () => {
  it("holds every state of both", () => {
    expectSame(joint(pair.a, pair.b, pair.slots), pair.a, pair.b);
  });

  it("holds the states of one where the other run has no such pass", () => {
    const { a } = pair;
    expectSame(joint(a, null, []), a, null);
    const named = { ...a, roles: ["lhs,order"], nodes: { ...a.nodes, role: a.nodes.id.map(() => 0) } };
    const whole = joint(a, named, []).bundle;
    const last = whole.nodes.id.length - 1;
    expect([roleOf(whole, 0, 0), roleOf(whole, last, 0), roleOf(whole, last, 1), roleOf(whole, last, 2)])
      .toEqual(["", "lhs", "order", ""]);
    expectSame(joint(null, a, []), null, a);
    expect(() => joint(null, null, [])).toThrow(RangeError);
  });

  it("gives a slot that is the same node one number", () => {
    const both = joint(pair.a, pair.b, pair.slots);
    expect([...both.slotOfB.slice(0, pair.slots.length)]).toEqual(pair.slots.map(([s]) => s));
    expect(both.bundle.slots).toBe(pair.a.slots + pair.b.slots - pair.slots.length);
  });

  it("takes each slot once, whatever a trace says", () => {
    const bad: [number, number][] = [[0, 0], [0, 1], [1, 0], [-1, 2], [2, 9999], [NaN, 3], [4, 4]];
    const both = joint(pair.a, pair.b, bad);
    expect(new Set(both.slotOfB).size).toBe(pair.b.slots);
    expect(both.slotOfB[0]).toBe(0);
    expect(both.slotOfB[4]).toBe(4);
    expectSame(both, pair.a, pair.b);
  });

  it("is refused like any other bundle where a part of it contradicts itself", () => {
    const { b } = pair;
    const steps = b.steps.map((s, i) => (i === 3 ? { ...s, drop: [b.slots + 7] } : s));
    const both = joint(pair.a, { ...b, steps }, pair.slots);
    expect(() => timelineOf(both.bundle)).toThrow(BundleError);
  });
});

describe("what differs between two states", () => {
  const differ = (both: Joint): [Replay, Replay, Differ] => {
    const t = timelineOf(both.bundle);
    const [before, after] = [new Replay(both.bundle, t), new Replay(both.bundle, t)];
    return [before, after, new Differ(before, after, kindsOf(both.bundle))];
  };
  const words = { title: "", removed: "", added: "", was: () => "", moved: "" };
  const plain = (d: { nodes: Map<number, string>; before: Map<number, string>; after: Map<number, string> }) =>
    [d.nodes, d.before, d.after].map((m) => [...m].sort((x, y) => x[0] - y[0]));

  it("is nothing for the same states of the same pass", () => {
    const [before, after, d] = differ(joint(pair.a, pair.a, pair.a.initial.slot.concat(
      Array.from({ length: pair.a.slots }, (_, s) => s)).map((s) => [s, s] as const)));
    const last = pair.a.steps.length;
    for (const k of [0, last, 3, 4, 5]) {
      before.goto(k);
      after.goto(last + 1 + k);
      expect(d.diff(k, [], words).nodes.size).toBe(0);
    }
  });

  it("does not depend on the way there", () => {
    const both = joint(pair.a, pair.b, pair.slots);
    const [before, after, d] = differ(both);
    const rand = random(SEED);
    let [a, b] = [0, 0];
    for (let i = 0; i < 300; i++) {
      const far = rand() < 0.1;
      const go = (at: number, most: number): number =>
        far ? Math.floor(rand() * (most + 1)) : Math.max(0, Math.min(most, at + Math.floor(rand() * 3) - 1));
      [a, b] = [go(a, both.stepsA), go(b, both.stepsB)];
      before.goto(a);
      after.goto(both.first + b);
      const now = d.diff(0, [], words);
      const fresh = new Differ(before, after, kindsOf(both.bundle)).diff(0, [], words);
      expect(plain(now), `seed ${SEED}, ${a} against ${b}`).toEqual(plain(fresh));
    }
  });

  it("says the same as a step where the two states are those of a step", () => {
    const one = designBundle();
    const both = joint(one, one, Array.from({ length: one.slots }, (_, s) => [s, s] as const));
    const [before, after, d] = differ(both);
    after.goto(both.first + 1);
    const now = d.diff(1, [], words);
    const [x, y] = [new Replay(one), new Replay(one)];
    y.goto(1);
    const { nodes } = stepDiff(x, y);
    expect(plain({ ...now, before: new Map(), after: new Map() })).toEqual(
      plain({ nodes, before: new Map(), after: new Map() }),
    );
    expect(before.step).toBe(0);
  });

  it("leaves out names of kernels, counted numbers and addresses", () => {
    expect(commonArg({ counted: true }, "7")).toBe(commonArg({ counted: true }, "8"));
    expect(commonArg({}, "7")).not.toBe(commonArg({}, "8"));
    expect(commonArg({}, "f at 0x7f0012345678")).toBe(commonArg({}, "f at 0x7f0087654321"));
    const sink = { passing: true };
    expect(commonArg(sink, "r_4 UPCAST(0, 4)")).toBe(commonArg(sink, "r_4_8 UPCAST(0, 4)"));
    expect(commonArg(sink, "r_4 UPCAST(0, 4)")).not.toBe(commonArg(sink, "r_4 UPCAST(0, 8)"));
    expect(kindsOf(joint(pair.a, pair.a, []).bundle).length).toBe(2 * pair.a.nodes.id.length);
  });

  it("grows with what differs, not with the graph", () => {
    const large = pairOf(chains(40, 50), 30, SEED, 10);
    const both = joint(large.a, large.b, large.slots);
    const [before, after, d] = differ(both);
    before.goto(5);
    after.goto(both.first + 5);
    expect(d.diff(5, [], words).nodes.size).toBe(0);
    before.goto(6);
    expect(d.diff(6, [], words).nodes.size).toBeLessThan(40);
  });
});
