/**
 * The union of a pass's steps as one graph of slots: its order, its levels, and who dominates whom.
 *
 * A step's graph has no cycles, the union of all steps may have some. Slots on a cycle are `tangled`
 * and share a level; any other edge leads to a higher level. So a set of slots of one level can be
 * drawn as one box, and several such sets at once, without closing a cycle in any step.
 * Linear in nodes and edges but for the dominators, which take a logarithm more; never recurses.
 */
import type { Timeline } from "../timeline";

export interface Union {
  /** Slots that ever hold a node, sources first. */
  order: Int32Array;
  /** Per slot: the longest way from a slot without sources; -1 where there never is a node. */
  level: Int32Array;
  /** 1 for slots on a cycle. */
  tangled: Uint8Array;
  /** Union edges by user: those into slot s are `sourceFirst[s]` .. `sourceFirst[s + 1] - 1`. */
  sourceFirst: Int32Array;
  /**
   * The nearest slot that every way from a slot to an output passes, -1 if there is none. The slots
   * below one in this tree, with it, are its cone: nothing outside uses them but through it.
   */
  exit: Int32Array;
}

/** Yields between its parts. */
export function* unionOf(t: Timeline): Generator<void, Union> {
  const sourceFirst = new Int32Array(t.slots + 1);
  // The timeline numbers its edges by user.
  for (const u of t.edgeUser) sourceFirst[u + 1]!++;
  for (let s = 0; s < t.slots; s++) sourceFirst[s + 1]! += sourceFirst[s]!;
  const parts = components(t, sourceFirst);
  yield;
  const level = levels(t, sourceFirst, parts);
  yield;
  const exit = dominators(t, parts);
  const tangled = new Uint8Array(t.slots);
  for (const p of parts) if (p.length > 1) for (const s of p) tangled[s] = 1;
  return { order: Int32Array.from(parts.flat()), level, tangled, sourceFirst, exit };
}

/** Sets of slots that reach each other (Tarjan), each after those it reaches through sources. */
function components(t: Timeline, sourceFirst: Int32Array): number[][] {
  const { slots, edgeSrc } = t;
  const found: number[][] = [];
  const index = new Int32Array(slots); // 0: not seen
  const low = new Int32Array(slots);
  const done = new Uint8Array(slots);
  const next = sourceFirst.slice(0, slots);
  const open: number[] = [];
  const path: number[] = [];
  let count = 0;
  const enter = (s: number): void => {
    index[s] = low[s] = ++count;
    open.push(s);
    path.push(s);
  };
  for (let start = 0; start < slots; start++) {
    if (index[start] || !everThere(t, start)) continue;
    enter(start);
    while (path.length) {
      const s = path.at(-1)!;
      if (next[s]! < sourceFirst[s + 1]!) {
        const source = edgeSrc[next[s]!++]!;
        if (!index[source]) enter(source);
        else if (!done[source]) low[s] = Math.min(low[s]!, index[source]);
        continue;
      }
      path.pop();
      const user = path.at(-1);
      if (user !== undefined) low[user] = Math.min(low[user]!, low[s]!);
      if (low[s] !== index[s]) continue;
      const part = open.splice(open.lastIndexOf(s));
      for (const m of part) done[m] = 1;
      found.push(part);
    }
  }
  return found;
}

function everThere(t: Timeline, s: number): boolean {
  for (let v = t.first[s]!; v < t.first[s + 1]!; v++) if (t.node[v]! >= 0) return true;
  return false;
}

function levels(t: Timeline, sourceFirst: Int32Array, parts: readonly number[][]): Int32Array {
  const level = new Int32Array(t.slots).fill(-1);
  for (const part of parts) {
    let highest = -1;
    for (const s of part)
      for (let e = sourceFirst[s]!; e < sourceFirst[s + 1]!; e++)
        highest = Math.max(highest, level[t.edgeSrc[e]!]!); // -1 within the part
    for (const s of part) level[s] = highest + 1;
  }
  return level;
}

/**
 * The tree of exits, from the outputs down. Slots on one cycle get one exit outside of it.
 * The common exit of two users is found along jumps that halve the way (skew-binary ancestors).
 */
function dominators(t: Timeline, parts: readonly number[][]): Int32Array {
  const top = t.slots; // stands above all outputs
  const exit = new Int32Array(t.slots + 1).fill(-1);
  const jump = new Int32Array(t.slots + 1);
  const depth = new Int32Array(t.slots + 1);
  exit[top] = jump[top] = top;
  const lift = (s: number, to: number): number => {
    while (depth[s]! > to) s = depth[jump[s]!]! >= to ? jump[s]! : exit[s]!;
    return s;
  };
  const meet = (a: number, b: number): number => {
    if (depth[a]! > depth[b]!) a = lift(a, depth[b]!);
    else b = lift(b, depth[a]!);
    while (a !== b) {
      const far = jump[a] !== jump[b];
      a = far ? jump[a]! : exit[a]!;
      b = far ? jump[b]! : exit[b]!;
    }
    return a;
  };
  const { root } = t.bundle;
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i]!;
    let common = -1;
    for (const s of part) {
      if (s === root) common = top;
      for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
        const user = t.edgeUser[t.usersEdge[j]!]!;
        if (exit[user]! < 0) continue; // in this part: not placed yet
        common = common < 0 ? user : meet(common, user);
      }
    }
    const above = common < 0 ? top : common;
    const leap = jump[above]!;
    const even = depth[above]! - depth[leap]! === depth[leap]! - depth[jump[leap]!]!;
    for (const s of part) {
      exit[s] = above;
      depth[s] = depth[above]! + 1;
      jump[s] = even ? jump[leap]! : above;
    }
  }
  return exit.subarray(0, t.slots).map((s) => (s === top ? -1 : s));
}
