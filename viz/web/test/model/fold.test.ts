import { describe, expect, it } from "vitest";
import type { Bundle } from "../../src/data/messages/bundle";
import { allSlots, headsOf, layoutInputOf } from "../../src/model/around/around";
import { stepDiff } from "../../src/model/diff";
import { BoxGraph, insidesOf } from "../../src/model/fold/boxes";
import { type Fold, foldOf, type FoldOptions } from "../../src/model/fold/fold";
import { Folding } from "../../src/model/fold/folding";
import { type Structure, structureNow } from "../../src/model/fold/structure";
import { cutMiddle, describeBox, expressionOf } from "../../src/model/fold/words";
import { AROUND, neighbourhood } from "../../src/model/fold/neighbourhood";
import { Pages, placeIn } from "../../src/model/around/pages";
import { stepPairs } from "../../src/model/pair/statePairs";
import { Replay } from "../../src/model/replay";
import { Timeline, timelineOf } from "../../src/model/timeline";
import { bundleOf, type Graph, random } from "./fixtures";
import { KernelMaker, unrolled } from "./kernels";

const BOTH: FoldOptions = { index: true, blocks: true, opened: new Set(), shown: [] };
const INDEX: FoldOptions = { ...BOTH, blocks: false };
const BLOCKS: FoldOptions = { ...BOTH, index: false };
const structure = (b: Bundle): Structure => structureNow(timelineOf(b));
const members = (fold: Fold | null): number[][] => (fold?.boxes ?? []).map((b) => [...b.members]);

/** `out[r0*64 + r1*4 + 2]`, whose address is used `users` times. */
function address(users = 1) {
  const k = new KernelMaker();
  const r0 = k.range("L0");
  const r1 = k.range("r1");
  const row = k.put("MUL", [r0, k.constant(64)]);
  const column = k.put("MUL", [r1, k.constant(4)]);
  const sum = k.put("ADD", [row, column]);
  const offset = k.put("ADD", [sum, k.constant(2)]);
  const pointer = k.put("DEFINE_GLOBAL", [], "float32*", "0");
  const ends = Array.from({ length: users }, () => k.put("INDEX", [pointer, offset], "float32*"));
  return { k, r0, r1, row, column, sum, offset, pointer, ends };
}

describe("index expressions", () => {
  it("takes the arithmetic that one INDEX alone uses, its constants with it", () => {
    const { k, r0, r1, row, column, sum, offset, pointer, ends } = address();
    k.put("SINK", [k.put("LOAD", ends, "float32")], "void");
    const fold = foldOf(structure(k.bundle()), INDEX)!;
    const [box] = fold.boxes;
    expect(fold.boxes).toHaveLength(1);
    expect(box!.head).toBe(ends[0]);
    for (const s of [row, column, sum, offset, ends[0]!]) expect(box!.members).toContain(s);
    for (const s of [r0, r1, pointer]) expect(fold.of[s]).toBe(-1);
    // 64, 4 and 2 are used by nothing else.
    expect(box!.members).toHaveLength(8);
  });

  it("ends at arithmetic that several addresses share", () => {
    const { k, row, column, sum, offset, ends } = address(2);
    k.put("SINK", ends.map((e) => k.put("LOAD", [e], "float32")), "void");
    const fold = foldOf(structure(k.bundle()), INDEX)!;
    expect(fold.boxes).toHaveLength(1);
    expect(fold.boxes[0]!.head).toBe(offset);
    for (const s of [row, column, sum]) expect(fold.head[s]).toBe(offset);
    for (const e of ends) expect(fold.of[e]).toBe(-1);
  });

  it("swallows nothing that anything else uses", () => {
    const { k, row, column, sum, ends } = address();
    // `sum` is a value, too, and `row` a part of it.
    const value = k.put("CAST", [sum], "float32");
    k.put("SINK", [k.put("STORE", [ends[0]!, value], "void")], "void");
    const fold = foldOf(structure(k.bundle()), INDEX)!;
    for (const s of [row, column, sum]) expect(fold.of[s]).toBe(-1);
    expect(fold.head[ends[0]!]).toBe(ends[0]); // what is left: INDEX, ADD and its constant
    expect(fold.boxes[0]!.members).toHaveLength(3);
  });

  it("looks at all steps: what is used elsewhere in one of them is never folded", () => {
    const { k, sum, ends } = address();
    const load = k.put("LOAD", ends, "float32");
    const sink = k.put("SINK", [load], "void");
    const cast = sink + 1;
    const b = k.bundle(
      [
        { set: [[cast, sink + 1, [sum]], [sink, sink, [load, cast]]], added: [cast] },
        { set: [[sink, sink, [load]]], drop: [cast], removed: [cast] },
      ],
      [["CAST", "float32", ""]],
    );
    expect(foldOf(structure(b), INDEX)!.of[sum]).toBe(-1);
  });

  it("does not take values for addresses: the data of a STORE, float arithmetic, a root", () => {
    const k = new KernelMaker();
    const r = k.range("L0");
    const pointer = k.put("DEFINE_GLOBAL", [], "int32*", "0");
    const value = k.put("ADD", [k.put("MUL", [r, k.constant(3)]), k.constant(1)]);
    const index = k.put("INDEX", [pointer, r], "int32*");
    k.put("SINK", [k.put("STORE", [index, value], "void")], "void");
    expect(foldOf(structure(k.bundle()), INDEX)).toBeNull();
  });
});

describe("words", () => {
  const text = (make: (k: KernelMaker, r: number) => number, gate?: (k: KernelMaker, r: number) => number): string => {
    const k = new KernelMaker();
    const r = k.range("L0");
    const offset = make(k, r);
    const sources = [k.put("DEFINE_GLOBAL", [], "float32*", "0"), offset];
    if (gate) sources.push(gate(k, r));
    const index = k.put("INDEX", sources, "float32*");
    k.put("SINK", [index], "void");
    return expressionOf(new Replay(k.bundle()), index);
  };

  it("writes an address as one would", () => {
    const { k, ends } = address();
    k.put("SINK", ends, "void");
    expect(expressionOf(new Replay(k.bundle()), ends[0]!)).toBe("L0*64 + r1*4 + 2");
  });

  it("puts brackets where they are needed, and only there", () => {
    const sum = (k: KernelMaker, r: number): number => k.put("ADD", [r, k.constant(1)]);
    expect(text((k, r) => k.put("MUL", [sum(k, r), k.constant(4)]))).toBe("(L0 + 1)*4");
    expect(text((k, r) => k.put("SUB", [r, sum(k, r)]))).toBe("L0 - (L0 + 1)");
    expect(text((k, r) => k.put("ADD", [r, sum(k, r)]))).toBe("L0 + L0 + 1");
    expect(text((k, r) => k.put("MUL", [r, k.put("IDIV", [r, k.constant(3)])]))).toBe("L0*(L0/3)");
    expect(text((k, r) => k.put("ADD", [r, k.constant(-4)]))).toBe("L0 - 4");
    expect(text((k, r) => k.put("NEG", [sum(k, r)]))).toBe("-(L0 + 1)");
    expect(text((k, r) => k.put("CAST", [sum(k, r)], "int64"))).toBe("int64(L0 + 1)");
  });

  it("says the gate, and what is negated", () => {
    const less = (k: KernelMaker, r: number): number => k.put("CMPLT", [r, k.constant(5)], "bool");
    expect(text((_, r) => r, less)).toBe("L0 if L0 < 5");
    const not = (k: KernelMaker, r: number): number =>
      k.put("CMPNE", [less(k, r), k.put("CONST", [], "bool", "True")], "bool");
    expect(text((_, r) => r, not)).toBe("L0 if !(L0 < 5)");
  });

  it("stays short where sharing makes a text double at each node", () => {
    const long = text((k, r) => {
      let s = r;
      for (let i = 0; i < 300; i++) s = k.put("ADD", [s, s]);
      return s;
    });
    expect(long.length).toBeLessThanOrEqual(400);
    expect(long).toContain("\u2026");
  });

  it("names what is no arithmetic by its id, and keeps strange text out", () => {
    expect(text((k, r) => k.put("ADD", [r, k.put("LOAD", [k.constant(0)])]))).toMatch(/^L0 \+ u\d+$/);
    const odd = text((k, r) => k.put("ADD", [r, k.put("CONST", [], "int32", "\u202e\n<b>".repeat(9))]));
    expect(odd).not.toMatch(/[\n\u202e]/);
    expect(odd.length).toBeLessThan(30);
  });

  it("cuts in the middle", () => {
    expect(cutMiddle("abcdefghij", 10)).toBe("abcdefghij");
    expect(cutMiddle("abcdefghijk", 7)).toBe("abc\u2026ijk");
  });
});

describe("repeated blocks", () => {
  it("folds all copies but one, which is the example", () => {
    const { maker, stores, muls } = unrolled(8);
    const b = maker.bundle();
    const fold = foldOf(structure(b), BLOCKS)!;
    const [box] = fold.boxes;
    expect(fold.boxes).toHaveLength(1);
    expect(box!.copies).toBe(7);
    expect([...box!.ends].sort((x, y) => x - y)).toEqual(stores);
    expect(muls.filter((s) => fold.of[s]! < 0)).toHaveLength(1);
    // Each copy: STORE, ADD, MUL, two LOADs, three INDEXes, the address and its constant.
    expect(box!.members).toHaveLength(7 * 10);
    const replay = new Replay(b);
    expect(describeBox(replay, replay, stepDiff(replay, replay), fold, box!)).toBe(
      "7 more copies of a repeated block: INDEX, ADD, LOAD, MUL, STORE; 70 nodes",
    );
  });

  it("leaves two copies alone, and copies of another shape", () => {
    expect(foldOf(structure(unrolled(2).maker.bundle()), BLOCKS)).toBeNull();
    const { maker, muls } = unrolled(8);
    const b = maker.bundle();
    const odd = muls[3]!;
    b.nodes.dtype[odd] = b.dtypes.push("float16") - 1;
    const fold = foldOf(structure(b), BLOCKS)!;
    expect(fold.of[odd]).toBe(-1);
    expect(fold.boxes[0]!.copies).toBe(6);
  });

  it("tells copies apart by how what they share inside is wired", () => {
    const k = new KernelMaker();
    const x = k.put("DEFINE_VAR", [], "float32", "x");
    const copy = (twisted: boolean): number => {
      const a = k.put("SQRT", [x], "float32");
      const b = k.put("SQRT", [x], "float32");
      const c = k.put("SUB", [a, b], "float32");
      const d = k.put("SUB", twisted ? [b, a] : [a, b], "float32");
      return k.put("MUL", [c, d], "float32");
    };
    const ends = Array.from({ length: 8 }, (_, i) => copy(i % 2 === 1));
    k.put("SINK", ends, "void");
    const fold = foldOf(structure(k.bundle()), BLOCKS)!;
    expect(fold.boxes.map((b) => b.ends)).toEqual([
      ends.filter((_, i) => i % 2 === 0),
      ends.filter((_, i) => i % 2 === 1),
    ]);
  });

  it("folds what sums up folded copies one by one, and keeps the last sum", () => {
    const k = new KernelMaker();
    const x = k.put("DEFINE_VAR", [], "float32", "x");
    const term = (): number => k.put("EXP2", [k.put("SQRT", [x], "float32")], "float32");
    const terms = Array.from({ length: 9 }, term);
    const sums: number[] = [];
    for (const t of terms.slice(1)) sums.push(k.put("ADD", [sums.at(-1) ?? terms[0]!, t], "float32"));
    k.put("SINK", [sums.at(-1)!], "void");
    const fold = foldOf(structure(k.bundle()), BLOCKS)!;
    expect(fold.boxes).toHaveLength(1);
    expect(fold.of[sums.at(-1)!]).toBe(-1);
    for (const s of sums.slice(0, -1)) expect(fold.of[s]).toBe(0);
    expect(fold.boxes[0]!.members).toHaveLength(8 * 2 + 7);
  });

  it("does not fold copies that need each other", () => {
    const k = new KernelMaker();
    let s = k.put("DEFINE_VAR", [], "float32", "x");
    const all: number[] = [];
    for (let i = 0; i < 9; i++) {
      s = k.put("EXP2", [k.put("SQRT", [s], "float32")], "float32");
      all.push(s);
    }
    k.put("SINK", all, "void");
    expect(foldOf(structure(k.bundle()), BLOCKS)).toBeNull();
  });

  it("leaves what has to be shown, and with it needs no other example", () => {
    const { maker, stores, muls } = unrolled(8);
    const fold = foldOf(structure(maker.bundle()), { ...BLOCKS, shown: [muls[2]!, muls[5]!] })!;
    expect(fold.boxes[0]!.copies).toBe(6);
    expect(stores.filter((s) => fold.of[s]! < 0)).toEqual([stores[2], stores[5]]);
  });

  it("opens by any of its copies, and says where it can be folded again", () => {
    const { maker, stores } = unrolled(8);
    const fold = foldOf(structure(maker.bundle()), { ...BLOCKS, opened: new Set([stores[4]!]) })!;
    expect(members(fold)).toEqual([]);
    for (const s of stores) expect([...fold.opened.get(s)!].sort((a, b) => a - b)).toEqual(stores);
  });
});

/** Random programs with copies in them: templates of nodes, put together at random. */
function randomProgram(seed: number): Graph {
  const rand = random(seed);
  const int = (n: number): number => Math.floor(rand() * n);
  const op: string[] = ["CONST", "RANGE", "DEFINE_GLOBAL"];
  const edges: [number, number][] = [];
  const ops = ["ADD", "MUL", "LOAD", "INDEX", "SQRT", "MAX", "STORE"];
  const put = (name: string, sources: number[]): number => {
    op.push(name);
    for (const s of sources) edges.push([s, op.length - 1]);
    return op.length - 1;
  };
  let open = [0, 1, 2];
  for (let layer = 0; layer < 5; layer++) {
    const template = Array.from({ length: 1 + int(5) }, () => [
      ops[int(ops.length)]!,
      Array.from({ length: 1 + int(2) }, () => int(8)),
    ] as const);
    const made: number[] = [];
    for (let copy = 0; copy < 1 + int(8); copy++) {
      const start = rand() < 0.5 ? [open[int(open.length)]!] : [...open.slice(0, 2)];
      const own = [...start];
      for (const [name, from] of template) own.push(put(name, from.map((f) => own[f % own.length]!)));
      made.push(own.at(-1)!);
    }
    open = rand() < 0.4 ? [...made, ...open] : made;
    if (rand() < 0.5) open = [open.reduce((a, b) => put("ADD", [a, b]))];
  }
  const used = new Set(edges.map(([s]) => s));
  put("SINK", op.map((_, s) => s).filter((s) => !used.has(s)));
  return { op, edges };
}

/** Is the graph of boxes free of cycles in the state of the replay? */
function acyclic(replay: Replay, fold: Fold): boolean {
  const graph = new BoxGraph(replay, replay, fold);
  const state = new Map<number, 1 | 2>();
  for (const start of replay.slots()) {
    const path: [number, number[]][] = [];
    const enter = (s: number): void => {
      state.set(s, 1);
      path.push([s, graph.sources(s)]);
    };
    if (!state.has(graph.at(start))) enter(graph.at(start));
    while (path.length) {
      const [s, left] = path.at(-1)!;
      const next = left.pop();
      if (next === undefined) {
        state.set(s, 2);
        path.pop();
      } else if (state.get(next) === 1) return false;
      else if (!state.has(next)) enter(next);
    }
  }
  return true;
}

describe("folding of random programs", () => {
  const seeds = Array.from({ length: 150 }, (_, i) => i + 1);

  it("closes no cycle in any step, and puts each slot in one box", () => {
    let boxes = 0;
    for (const seed of seeds) {
      const b = bundleOf(randomProgram(seed), seed % 3 ? seed % 7 : 0, seed);
      b.nodes.dtype.fill(b.dtypes.indexOf("int32"));
      const t = timelineOf(b);
      const fold = foldOf(structureNow(t), BOTH);
      if (!fold) continue;
      boxes += fold.boxes.length;
      const seen = members(fold).flat();
      expect(new Set(seen).size, `seed ${seed}`).toBe(seen.length);
      fold.boxes.forEach((box, i) => {
        const own = (s: number): boolean => fold.of[s] === i && fold.head[s] === box.head;
        expect(box.members.every(own), `seed ${seed}`).toBe(true);
      });
      expect(fold.of[b.root], `seed ${seed}`).toBe(-1);
      const replay = new Replay(b, t);
      for (let k = 0; k <= t.steps; k++) {
        replay.goto(k);
        if (!acyclic(replay, fold)) throw new Error(`a cycle: seed ${seed}, step ${k}`);
      }
    }
    expect(boxes).toBeGreaterThan(100);
  });

  it("gives index expressions one end: no other slot of theirs is used outside", () => {
    for (const seed of seeds) {
      const b = bundleOf(randomProgram(seed), 3, seed);
      b.nodes.dtype.fill(b.dtypes.indexOf("int32"));
      const t = timelineOf(b);
      const fold = foldOf(structureNow(t), INDEX);
      for (let e = 0; fold && e < t.edgeSrc.length; e++) {
        const s = t.edgeSrc[e]!;
        const box = fold.boxes[fold.of[s]!];
        if (!box || fold.constant[s] || s === box.head) continue;
        if (fold.of[t.edgeUser[e]!] !== fold.of[s]) throw new Error(`seed ${seed}: slot ${s}`);
      }
    }
  });

  it("finds the exits that removing a slot proves", () => {
    const wrong: string[] = [];
    for (const seed of seeds.slice(0, 15)) {
      const t = timelineOf(bundleOf(randomProgram(seed), 2, seed));
      const u = structureNow(t).union;
      if (u.tangled.some(Boolean)) continue;
      for (const exit of u.order) {
        // Without `exit`: who still leads to an output?
        const leads = new Set<number>();
        for (let i = u.order.length - 1; i >= 0; i--) {
          const s = u.order[i]!;
          if (s === exit) continue;
          let on = t.usersFirst[s] === t.usersFirst[s + 1] || s === t.bundle.root;
          for (let j = t.usersFirst[s]!; !on && j < t.usersFirst[s + 1]!; j++)
            on = leads.has(t.edgeUser[t.usersEdge[j]!]!);
          if (on) leads.add(s);
        }
        for (const s of u.order) {
          let at = s;
          while (at >= 0 && at !== exit) at = u.exit[at]!;
          if ((at === exit) === leads.has(s)) wrong.push(`seed ${seed}: ${s} by ${exit}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("handles a union of steps with a cycle in it", () => {
    const k = new KernelMaker();
    const x = k.put("DEFINE_VAR", [], "float32", "x");
    const a = k.put("SQRT", [x], "float32");
    const b = k.put("EXP2", [a], "float32");
    const sink = k.put("SINK", [b], "void");
    const turned = k.bundle([{ set: [[b, b, [x]], [a, a, [b]], [sink, sink, [a]]], moved: [a, b] }]);
    const u = structure(turned).union;
    expect([...u.tangled]).toEqual([0, 1, 1, 0]);
    expect(u.level[a]).toBe(u.level[b]);
    expect(u.exit[a]).toBe(sink);
  });
});

describe("folding of a pass", () => {
  /** One MUL of 8 copies becomes an ADD, three times. */
  function stepped() {
    const { maker, stores, muls } = unrolled(8);
    const contents = maker.bundle().nodes.id.length;
    const loads = (s: number): number[] => [s - 2, s - 1];
    const steps = [0, 1, 2].map((i) => ({
      slot: muls[i]!, result: muls[i]!, set: [[muls[i]!, contents, loads(muls[i]!)] as [number, number, number[]]],
      removed: [muls[i]!], added: [muls[i]!],
    }));
    return { b: maker.bundle(steps, [["ADD", "float32", ""]]), stores, muls };
  }
  const choice = { index: true, blocks: true, opened: new Set<number>() };

  it("is one for all steps, and says what a step changes inside", () => {
    const { b, muls } = stepped();
    const t = timelineOf(b);
    const fold = new Folding(t, choice).all()!;
    const before = new Replay(b, t);
    const after = new Replay(b, t);
    after.goto(2);
    before.goto(1);
    const diff = stepDiff(before, after);
    // The three changed alike are a block of their own; the example is one of them.
    const box = fold.boxes[fold.of[muls[1]!]!]!;
    expect(insidesOf(diff, fold).get(box)).toEqual({ removed: 1, added: 1, moved: 0 });
    expect(describeBox(before, after, diff, fold, box)).toMatch(/, 1 removed, 1 added inside$/);
  });

  it("around a change shows what the page's steps change, and folds the other copies", () => {
    const { b, muls } = stepped();
    const t = timelineOf(b);
    const page = new Pages(stepPairs(t), AROUND, new Folding(t, choice)).of(1);
    for (const s of muls.slice(0, 3)) expect(page.fold!.of[s]).toBe(-1);
    for (const s of muls.slice(4)) expect(page.fold!.of[s]).toBeGreaterThanOrEqual(0);
    const before = new Replay(b, t);
    const after = new Replay(b, t);
    for (let k = 1; k <= 3; k++) {
      after.goto(k);
      before.goto(k - 1);
      const diff = stepDiff(before, after);
      const { shown } = neighbourhood(before, after, diff, { ...AROUND, fold: page.fold });
      for (const s of diff.nodes.keys()) expect(shown.has(s)).toBe(true);
      for (const s of shown) expect(page.fold!.head[s]).toBe(s);
      for (const s of shown) expect(page.slots).toContain(s);
    }
  });

  it("never folds where a pass failed", () => {
    const { b, muls } = stepped();
    b.error = { step: 3, rule: 0, message: "", traceback: "", slot: muls[6]! };
    const fold = new Folding(timelineOf(b), choice).all()!;
    expect(fold.of[muls[6]!]).toBe(-1);
    expect(fold.of[muls[5]!]).toBeGreaterThanOrEqual(0);
  });

  it("moves nothing that two neighbouring steps draw, also where other boxes begin", () => {
    const graph: Graph = { op: ["RANGE", "DEFINE_GLOBAL"], edges: [] };
    const put = (op: string, ...sources: number[]): number => {
      graph.op.push(op);
      for (const s of sources) graph.edges.push([s, graph.op.length - 1]);
      return graph.op.length - 1;
    };
    const stores = Array.from({ length: 80 }, () => {
      const load = put("LOAD", put("INDEX", 1, put("MUL", put("ADD", 0, 0), 0)));
      return put("STORE", put("EXP2", put("SQRT", load)), put("MAX", load, load));
    });
    put("SINK", ...stores);
    const b = bundleOf(graph, 200, 3);
    b.nodes.dtype.fill(b.dtypes.indexOf("int32"));
    const pages = new Pages(stepPairs(timelineOf(b)), AROUND, new Folding(timelineOf(b), choice));
    let [boxes, survivors] = [0, 0];
    for (let k = 41; k <= 150; k++) {
      const was = pages.of(k - 1);
      const now = pages.of(k);
      expect(now.world).toBe(was.world);
      expect(now.fold).toBe(pages.drawn.boxes(k));
      for (const s of pages.drawn.at(k)) {
        if (now.fold && now.fold.of[s]! >= 0) boxes++;
        const folded = pages.drawn.folded(k).has(s) || pages.drawn.folded(k - 1).has(s);
        if (folded || !pages.drawn.at(k - 1).has(s)) continue;
        survivors++;
        expect(placeIn(now, s)).toEqual(placeIn(was, s));
      }
    }
    expect(boxes).toBeGreaterThan(100);
    expect(survivors).toBeGreaterThan(500);
  });

  it("lays a box out as one node, without edges inside it or from constants into it", () => {
    const { b } = stepped();
    const t = timelineOf(b);
    const fold = new Folding(t, choice).all()!;
    const slots = headsOf(allSlots(t), fold);
    const input = layoutInputOf(stepPairs(t), slots, fold);
    expect(input.n).toBe(slots.length);
    for (let e = 0; e < input.src.length; e++) {
      const [src, user] = [slots[input.src[e]!]!, slots[input.user[e]!]!];
      expect(src).not.toBe(user);
      expect(fold.constant[src] && fold.of[user]! >= 0).toBeFalsy();
    }
    expect(input.n).toBeLessThan(allSlots(t).length / 2);
  });

  it("leaves a small pass as it is", () => {
    const t = timelineOf(unrolled(4).maker.bundle());
    expect(t.slots).toBeLessThan(60);
    expect(new Folding(t, choice).all()).toBeNull();
  });

  it("takes time in proportion to the pass", () => {
    const work = (copies: number): number => {
      const b = unrolled(copies).maker.bundle();
      const t = new Timeline(b);
      const from = process.cpuUsage();
      foldOf(structureNow(t), BOTH);
      return process.cpuUsage(from).user;
    };
    work(500);
    expect(work(2500)).toBeLessThan(25 * (work(500) + 2000));
  });
});
