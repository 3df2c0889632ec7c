/**
 * Bundles for tests and for looking at: the design's example, and made-up steps on any graph.
 *
 * The made-up steps follow the rules of slots: a match replaces a slot's content or redirects it,
 * new sources get new slots, slots without users go away.
 */
import type { Bundle, Step } from "../../src/data/messages/bundle";
import { dialect } from "../dev/dialect";

export interface Graph {
  op: string[];
  /** [source, user] */
  edges: [number, number][];
}

/** Numbers that look random and are the same for one seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** `count` chains of `length`, all between one constant and one sink. */
export function chains(count: number, length: number): Graph {
  const op = ["CONST", "SINK"];
  const edges: [number, number][] = [];
  for (let c = 0; c < count; c++)
    for (let i = 0; i < length; i++) {
      op.push(["ADD", "MUL", "MAX", "LOAD"][i % 4]!);
      const v = op.length - 1;
      edges.push([i ? v - 1 : 0, v]);
      if (i === length - 1) edges.push([v, 1]);
    }
  return { op, edges };
}

/** A graph without cycles, in which most edges are short. */
export function mesh(nodes: number, seed: number): Graph {
  const rand = random(seed);
  const op = Array.from({ length: nodes }, (_, v) => ["ADD", "MUL", "MAX", "LOAD"][v % 4]!);
  const edges: [number, number][] = [];
  for (let v = 1; v < nodes; v++)
    for (let i = 0; i < 2; i++) {
      const back = rand() < 0.9 ? 1 + Math.floor(rand() * 9) : 1 + Math.floor(rand() * v);
      edges.push([Math.max(0, v - back), v]);
    }
  return { op, edges };
}

class Builder {
  private readonly tables = {
    ops: new Map<string, number>(),
    dtypes: new Map<string, number>(),
    args: new Map<string, number>(),
    shapes: new Map<string, number>(),
  };
  readonly nodes: Bundle["nodes"] = {
    id: [], op: [], dtype: [], arg: [], loc: [], tag: [], shape: [],
    lo: [], hi: [], ranges: [], src: [], origin: [],
  };

  private index(table: Map<string, number>, text: string): number {
    const known = table.get(text);
    if (known !== undefined) return known;
    table.set(text, table.size);
    return table.size - 1;
  }

  node(op: string, arg = "", dtype = "int32", ranges = "", shape = ""): number {
    const n = this.nodes;
    n.id.push(100 + n.id.length);
    n.op.push(this.index(this.tables.ops, op));
    n.dtype.push(this.index(this.tables.dtypes, dtype));
    n.arg.push(this.index(this.tables.args, arg));
    n.shape.push(this.index(this.tables.shapes, shape));
    n.loc.push(-1);
    n.tag.push(-1);
    n.lo.push("");
    n.hi.push("");
    n.ranges.push(ranges);
    n.src.push([]);
    n.origin.push(-1);
    return n.id.length - 1;
  }

  bundle(rest: Pick<Bundle, "slots" | "initial" | "root" | "steps" | "name">): Bundle {
    return {
      version: 1,
      dialect, rewrite: 1, context: 0, bottomUp: false, locs: [], tags: [], origins: [],
      error: null, truncated: null,
      ops: [...this.tables.ops.keys()],
      dtypes: [...this.tables.dtypes.keys()],
      args: [...this.tables.args.keys()],
      shapes: [...this.tables.shapes.keys()],
      nodes: this.nodes,
      ...rest,
    };
  }
}

/** The example of the design: (x*c + y) // c -> x + y//c in a matrix product. One step. */
export function designBundle(): Bundle {
  const b = new Builder();
  const content: Record<string, [string, string, string, string]> = {
    g0: ["RANGE", "gidx0 0..63", "int32", "g0"],
    c32: ["CONST", "32", "int32", ""],
    l1: ["RANGE", "lidx1 0..31", "int32", "l1"],
    r2: ["RANGE", "ridx2 0..127", "int32", "r2"],
    mo: ["MUL", "", "int32", "g0"],
    ao: ["ADD", "", "int32", "g0 l1"],
    io: ["IDIV", "", "int32", "g0 l1"],
    mk: ["MUL", "", "int32", "r2"],
    in: ["IDIV", "", "int32", "l1"],
    ab: ["ADD", "", "int32", "l1 r2"],
    an: ["ADD", "", "int32", "g0 l1"],
    c128: ["CONST", "128", "int32", ""],
    m: ["MUL", "", "int32", "g0 l1"],
    d1: ["DEFINE_GLOBAL", "1", "float*", ""],
    a: ["ADD", "", "int32", "g0 l1 r2"],
    d2: ["DEFINE_GLOBAL", "2", "float*", ""],
    ia: ["INDEX", "", "float*", "g0 l1 r2"],
    ib: ["INDEX", "", "float*", "l1 r2"],
    la: ["LOAD", "", "float32", "g0 l1 r2"],
    lb: ["LOAD", "", "float32", "l1 r2"],
    f: ["MUL", "", "float32", "g0 l1 r2"],
    rd: ["REDUCE", "ADD", "float32", "g0 l1"],
    c0: ["CONST", "0.0", "float32", ""],
    mx: ["MAX", "", "float32", "g0 l1"],
    d0: ["DEFINE_GLOBAL", "0", "float*", ""],
    i0: ["INDEX", "", "float*", "g0 l1"],
    s: ["STORE", "", "void", "g0 l1"],
    sk: ["SINK", "", "void", ""],
  };
  const src: Record<string, string[]> = {
    mo: ["g0", "c32"], ao: ["mo", "l1"], io: ["ao", "c32"], mk: ["r2", "c32"], ab: ["mk", "l1"],
    m: ["io", "c128"], a: ["m", "r2"], ia: ["d1", "a"], ib: ["d2", "ab"], la: ["ia"], lb: ["ib"],
    f: ["la", "lb"], rd: ["f", "r2"], mx: ["rd", "c0"], i0: ["d0", "m"], s: ["i0", "mx"], sk: ["s"],
    in: ["l1", "c32"], an: ["g0", "in"],
  };
  const names = Object.keys(content);
  const slot = (name: string): number => names.indexOf(name);
  for (const name of names) b.node(...content[name]!);
  const rebuilt = b.node("MUL", "", "int32", "g0 l1");
  const slots = (name: string): number[] => (src[name] ?? []).map(slot);
  const first = names.filter((n) => n !== "in" && n !== "an");
  const step: Step = {
    rule: 0, us: 12, slot: slot("io"), result: slot("an"), before: slot("io"), after: slot("an"),
    binds: [["x", slot("g0")], ["c", slot("c32")], ["y", slot("l1")]],
    set: [
      [slot("in"), slot("in"), slots("in")],
      [slot("an"), slot("an"), slots("an")],
      [slot("m"), rebuilt, [slot("an"), slot("c128")]],
    ],
    drop: [slot("io"), slot("ao"), slot("mo")],
    removed: [slot("io"), slot("ao"), slot("mo")],
    added: [slot("an"), slot("in")],
    moved: [slot("m")],
  };
  return b.bundle({
    name: "symbolic",
    slots: names.length,
    initial: { slot: first.map(slot), node: first.map(slot), src: first.map(slots) },
    root: slot("sk"),
    steps: [step],
  });
}

const LETTERS = ["", "g0", "g0 l1", "r2", "g0 l1 r2", "l1 u3"];

/** A graph as a bundle, with `count` made-up matches; those after `same` are others than without. */
export function bundleOf(graph: Graph, count: number, seed = 7, same = Infinity): Bundle {
  let rand = random(seed);
  const b = new Builder();
  const n = graph.op.length;
  const src: number[][] = graph.op.map(() => []);
  const hasUser = new Uint8Array(n);
  for (const [s, u] of graph.edges) {
    src[u]!.push(s);
    hasUser[s] = 1;
  }
  const pick = <T>(list: readonly T[]): T => list[Math.floor(rand() * list.length)]!;
  const make = (op: string): number =>
    b.node(
      op,
      op === "CONST" ? String(Math.floor(rand() * 128)) : op === "RANGE" ? "gidx0 0..63" : "",
      pick(["int32", "float32", "int32"]),
      op === "CONST" ? "" : pick(LETTERS),
    );
  const content = graph.op.map(make);
  const root = hasUser.findIndex((h) => !h);
  const users: number[][] = graph.op.map(() => []);
  src.forEach((list, u) => list.forEach((s) => users[s]!.push(u)));
  const initial = {
    slot: graph.op.map((_, i) => i),
    node: content.slice(),
    src: src.map((s) => s.slice()),
  };
  const alive = graph.op.map(() => true);
  const steps: Step[] = [];
  for (let k = 0; k < count; k++) {
    if (k === same) rand = random(seed + 1);
    let v = Math.floor(rand() * src.length);
    for (let tries = 0; tries < 200 && (!alive[v] || !src[v]!.length || v === root); tries++)
      v = Math.floor(rand() * src.length);
    if (!alive[v] || v === root || !src[v]!.length) continue;
    const set = new Map<number, number>();
    const step: Step = {
      rule: Math.floor(rand() * 9), us: Math.floor(rand() * 40), slot: v, result: v,
      before: content[v]!, after: content[v]!,
      binds: src[v]!.slice(0, 3).map((s, i) => ["xyc"[i]!, content[s]!]),
      set: [], drop: [], removed: [], added: [], moved: [],
    };
    const link = (user: number, next: number[]): void => {
      for (const s of src[user]!) users[s]!.splice(users[s]!.indexOf(user), 1);
      src[user] = next;
      for (const s of next) users[s]!.push(user);
      set.set(user, 1);
    };
    const fresh = (op: string, sources: number[]): number => {
      const s = src.length;
      src.push([]);
      users.push([]);
      alive.push(true);
      content.push(make(op));
      link(s, sources);
      step.added.push(s);
      return s;
    };
    const redirect = (to: number): void => {
      step.result = to;
      step.after = content[to]!;
      for (const u of [...new Set(users[v])]) {
        link(u, src[u]!.map((s) => (s === v ? to : s)));
        step.moved.push(u);
      }
    };
    const old = src[v]!.slice();
    const kind = rand();
    if (kind < 0.35) redirect(old[0]!);
    else if (kind < 0.7) {
      const inner = fresh(pick(["IDIV", "ADD", "MUL"]), [old.at(-1)!, fresh("CONST", [])]);
      redirect(fresh(pick(["ADD", "MAX", "SHL"]), [old[0]!, inner]));
    } else {
      const now = make(pick(["SHL", "CAST", "MUL", "WHERE"]));
      content[v] = now;
      link(v, [...old.slice(0, 1), fresh("CONST", [])]);
      step.after = now;
      step.removed.push(v);
      step.added.push(v);
    }
    const queue = [v, ...old].filter((s) => !users[s]!.length && s !== root);
    for (const s of queue) {
      if (!alive[s] || users[s]!.length) continue;
      alive[s] = false;
      step.drop.push(s);
      if (!step.removed.includes(s)) step.removed.push(s);
      const gone = src[s]!;
      link(s, []);
      set.delete(s);
      queue.push(...gone.filter((t) => !users[t]!.length && t !== root));
    }
    step.moved = step.moved.filter((s) => alive[s]);
    step.added = step.added.filter((s) => alive[s]);
    for (const s of set.keys()) if (alive[s]) step.set.push([s, content[s]!, src[s]!.slice()]);
    steps.push(step);
  }
  return b.bundle({ name: "symbolic", slots: src.length, initial, root, steps });
}

/** One pass of two runs, which go apart after `same` matches, and how they go in step. */
export interface PairOfPasses {
  a: Bundle;
  b: Bundle;
  slots: [number, number][];
  steps: [number, number][];
  equal: boolean[];
}

export function pairOf(graph: Graph, count: number, seed: number, same: number): PairOfPasses {
  const a = bundleOf(graph, count, seed);
  const b = bundleOf(graph, count - 3, seed, same);
  const common = graph.op.length + a.steps.slice(0, same).reduce(
    (most, step) => Math.max(most, ...step.set.map(([s]) => s + 1 - graph.op.length)), 0,
  );
  const slots = Array.from({ length: common }, (_, s): [number, number] => [s, s]);
  const steps: [number, number][] = [];
  const equal: boolean[] = [];
  for (let k = 1; k <= same; k++) {
    steps.push([k, k]);
    equal.push(true);
  }
  for (let k = same + 1; k <= Math.max(a.steps.length, b.steps.length); k++) {
    if (k <= a.steps.length) steps.push([k, 0]);
    if (k <= b.steps.length) steps.push([0, k]);
  }
  while (equal.length < steps.length) equal.push(false);
  return { a, b, slots, steps, equal };
}
