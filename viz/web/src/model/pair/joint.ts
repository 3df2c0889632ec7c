/**
 * Two passes as one bundle: the states of A, and after them those of B.
 *
 * Slots of B that are the same node as one of A have its number, the others get new ones behind A's.
 * So one timeline holds every state of both, one picture has a place for all of them, and what shows
 * one pass shows two. State i of A is state i here; state j of B is `first + j`. Checks nothing that
 * the timeline checks, and leaves out pairs of slots that contradict themselves: a trace may come
 * from a stranger. Pure.
 */
import type { Bundle, NodeTable, Step } from "../../data/messages/bundle";

export interface Joint {
  bundle: Bundle;
  /** Steps of A and of B. */
  stepsA: number;
  stepsB: number;
  /** The state that is B's input graph. */
  first: number;
  /** For each slot of A and of B: its slot here. A's are its own. */
  slotOfB: Int32Array;
  slotsA: number;
  /** Contents here from this one on are B's, in the order of its own. */
  contentsA: number;
}

/** A pass without a node or a step, in place of one that a run has not. */
function emptyBundle(like: Bundle): Bundle {
  const nodes: NodeTable = {
    ...{ id: [], op: [], dtype: [], arg: [], loc: [], tag: [], shape: [] },
    ...{ lo: [], hi: [], ranges: [], src: [], origin: [] },
  };
  const none = { slot: [], node: [], src: [] };
  const tables = { ops: [], dtypes: [], args: [], locs: [], tags: [], shapes: [], origins: [] };
  return { ...like, ...tables, nodes, slots: 0, initial: none, root: -1, steps: [], error: null };
}

/** @throws RangeError if there is neither */
export function joint(
  a: Bundle | null,
  b: Bundle | null,
  slots: readonly (readonly [number, number])[],
): Joint {
  const one = a ?? b;
  if (!one) throw new RangeError("joint: neither run has this pass");
  const [from, to] = [a ?? emptyBundle(one), b ?? emptyBundle(one)];
  const slotOfB = slotNumbers(from.slots, to.slots, slots);
  const contentsA = from.nodes.id.length;
  const count = slotOfB.reduce((most, s) => Math.max(most, s + 1), from.slots);
  const moved = new Mover(slotOfB, contentsA);
  const steps = [...from.steps, turn(from, to, moved), ...to.steps.map((s) => moved.step(s))];
  const { tables, nodes } = joinNodes(from, to);
  return {
    bundle: {
      ...from,
      ...tables,
      nodes,
      rewrite: numberOf(a, b),
      name: one.name,
      slots: count,
      root: from.root >= 0 ? from.root : moved.slot(to.root),
      steps,
      error: null,
      truncated: from.truncated ?? to.truncated,
    },
    stepsA: from.steps.length,
    stepsB: to.steps.length,
    first: from.steps.length + 1,
    slotOfB,
    slotsA: from.slots,
    contentsA,
  };
}

/** One number for two passes, below 2**53 for traces of up to 2**26 passes. */
const numberOf = (a: Bundle | null, b: Bundle | null): number =>
  ((a?.rewrite ?? 0) % 2 ** 26) * 2 ** 26 + ((b?.rewrite ?? 0) % 2 ** 26);

/** The slot here of each slot of B; of pairs with a slot that is taken, the first one counts. */
function slotNumbers(
  inA: number,
  inB: number,
  slots: readonly (readonly [number, number])[],
): Int32Array {
  const of = new Int32Array(Math.max(0, inB)).fill(-1);
  const taken = new Uint8Array(Math.max(0, inA));
  for (const [x, y] of slots) {
    if (!(x >= 0 && x < inA && y >= 0 && y < inB) || taken[x] || of[y] !== -1) continue;
    taken[x] = 1;
    of[y] = x;
  }
  let next = inA;
  return of.map((s) => (s < 0 ? next++ : s));
}

/** Gives what is B's its numbers here. What B does not have gets one that is not here either. */
class Mover {
  constructor(
    private readonly slotOfB: Int32Array,
    private readonly contents: number,
  ) {}

  readonly slot = (s: number): number => this.slotOfB[s] ?? -1;

  readonly node = (c: number): number => (c < 0 ? c : c + this.contents);

  step(s: Step): Step {
    const { slot, node } = this;
    return {
      ...s,
      slot: slot(s.slot),
      result: slot(s.result),
      before: node(s.before),
      after: node(s.after),
      binds: s.binds.map(([name, c]) => [name, node(c)]),
      set: s.set.map(([at, c, src]) => [slot(at), node(c), src.map(slot)]),
      drop: s.drop.map(slot),
      removed: s.removed.map(slot),
      added: s.added.map(slot),
      moved: s.moved.map(slot),
    };
  }
}

/** From the last state of A to the first one of B; it is not shown as a step. */
function turn(a: Bundle, b: Bundle, moved: Mover): Step {
  const { initial } = b;
  const set: Step["set"] = initial.slot.map((s, i) => [
    moved.slot(s),
    moved.node(initial.node[i]!),
    (initial.src[i] ?? []).map(moved.slot),
  ]);
  const stays = new Set(set.map(([s]) => s));
  const at = a.slots > 0 ? 0 : (set[0]?.[0] ?? 0);
  return {
    ...{ rule: -1, us: 0, slot: at, result: at, before: -1, after: -1, binds: [] },
    set,
    drop: [...lastSlots(a)].filter((s) => !stays.has(s)),
    ...{ removed: [], added: [], moved: [] },
  };
}

/** The slots that hold a node when the pass ends. */
function lastSlots(b: Bundle): Set<number> {
  const slots = new Set(b.initial.slot);
  for (const step of b.steps) {
    for (const [s] of step.set) slots.add(s);
    for (const s of step.drop) slots.delete(s);
  }
  return slots;
}

const TABLES = [
  ["op", "ops"],
  ["dtype", "dtypes"],
  ["arg", "args"],
  ["loc", "locs"],
  ["tag", "tags"],
  ["shape", "shapes"],
] as const;

type Tables = Pick<Bundle, (typeof TABLES)[number][1] | "devices" | "roles" | "origins">;

/** The nodes of both, over string tables in which every text stands once. */
function joinNodes(a: Bundle, b: Bundle): { tables: Tables; nodes: NodeTable } {
  const tables = {} as Tables;
  const nodes = {} as NodeTable;
  for (const [field, table] of TABLES)
    [tables[table], nodes[field]] = joinTexts(a[table], b[table], a.nodes[field], b.nodes[field]);
  [tables.origins, nodes.origin] = joinTexts(a.origins, b.origins, a.nodes.origin, b.nodes.origin);
  const none = (of: Bundle): number[] => of.nodes.id.map(() => -1);
  if (a.roles?.length || b.roles?.length) {
    [tables.roles, nodes.role] = joinTexts(
      a.roles ?? [],
      b.roles ?? [],
      a.nodes.role ?? none(a),
      b.nodes.role ?? none(b),
    );
  }
  if (a.devices?.length || b.devices?.length) {
    [tables.devices, nodes.device] = joinTexts(
      a.devices ?? [],
      b.devices ?? [],
      a.nodes.device ?? none(a),
      b.nodes.device ?? none(b),
    );
  }
  for (const field of ["id", "lo", "hi", "ranges"] as const)
    (nodes[field] as unknown[]) = [...a.nodes[field], ...b.nodes[field]];
  const shift = a.nodes.id.length;
  nodes.src = [...a.nodes.src, ...b.nodes.src.map((src) => src.map((c) => c + shift))];
  return { tables, nodes };
}

function joinTexts(
  a: readonly string[],
  b: readonly string[],
  inA: readonly number[],
  inB: readonly number[],
): [texts: string[], indices: number[]] {
  const texts = [...a];
  const places = new Map(texts.map((text, i) => [text, i]));
  const place = b.map((text) => {
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, texts.length);
    return texts.push(text) - 1;
  });
  return [texts, [...inA, ...inB.map((i) => place[i] ?? -1)]];
}
