/**
 * What of a pass can be folded at all, worked out once per pass over the union of its steps.
 *
 * Yields the share done, so that a large pass is looked at in slices. What is folded in the end
 * (see `fold.ts`) is cheap to decide from this, again and again.
 */
import { groupAt } from "../ops";
import type { Timeline } from "../timeline";
import { expressions } from "./addresses";
import { alikeByLevel, joinsOf } from "./alike";
import { type Cones, conesOf } from "./cones";
import { type Union, unionOf } from "./union";

export interface Structure {
  timeline: Timeline;
  union: Union;
  cones: Cones;
  /** Per slot: where its index expression ends, -1 if it is in none. */
  ends: Int32Array;
  /** Index expressions by end: the slots of each, the end first. */
  expressions: ReadonlyMap<number, readonly number[]>;
  /** Exits that may be copies of one block, the outermost first. */
  alike: readonly (readonly number[])[];
  /** Per slot: where a chain of sums (products, ...) ends that it is part of, else itself. */
  joins: Int32Array;
  /** 1 for slots that hold nothing but constants without sources. */
  constant: Uint8Array;
}

const known = new WeakMap<Timeline, Structure>();

/** An index expression of fewer nodes, its constants counted, is not folded. */
const EXPRESSION = 3;

export function* structureOf(t: Timeline): Generator<number, Structure> {
  const made = known.get(t);
  if (made) return made;
  const union = yield* shares(unionOf(t), 0.2);
  yield 0.3;
  const constant = constants(t);
  const ends = expressions(t, union, constant);
  yield 0.4;
  const cones = yield* shares(conesOf(t, union, { constant, ends }), 0.5);
  const members = new Map<number, number[]>();
  // Users first, so that the end leads.
  for (let i = union.order.length - 1; i >= 0; i--) {
    const s = union.order[i]!;
    const end = ends[s]!;
    if (end < 0 || constant[s]) continue;
    const list = members.get(end);
    if (list) list.push(s);
    else members.set(end, [s]);
  }
  const constantsOf = (list: readonly number[]): Set<number> => {
    const found = new Set<number>();
    for (const s of list)
      for (let e = union.sourceFirst[s]!; e < union.sourceFirst[s + 1]!; e++)
        if (constant[t.edgeSrc[e]!]) found.add(t.edgeSrc[e]!);
    return found;
  };
  for (const [end, list] of members) {
    if (list.length > 1 && list.length + constantsOf(list).size >= EXPRESSION) continue;
    members.delete(end);
    for (const s of list) ends[s] = -1;
  }
  yield 0.9;
  const joins = joinsOf(t, union);
  const alike = alikeByLevel(union, cones, ends);
  const found = { timeline: t, union, cones, ends, expressions: members, alike, joins, constant };
  known.set(t, found);
  return found;
}

/** Passes the work's pauses on, all with one share. */
function* shares<T>(work: Generator<unknown, T>, share: number): Generator<number, T> {
  for (;;) {
    const next = work.next();
    if (next.done) return next.value;
    yield share;
  }
}

function constants(t: Timeline): Uint8Array {
  const found = new Uint8Array(t.slots);
  for (let s = 0; s < t.slots; s++) {
    let only = 0;
    for (let v = t.first[s]!; v < t.first[s + 1]!; v++) {
      const c = t.node[v]!;
      if (c < 0) continue;
      const plain = t.src[v]!.length === 0 && groupAt(t.bundle, c) === "const";
      only = plain && only >= 0 ? 1 : -1;
    }
    if (only > 0 && s !== t.bundle.root) found[s] = 1;
  }
  return found;
}

/** The structure of a pass, made at once; made only once. */
export function structureNow(t: Timeline): Structure {
  const parts = structureOf(t);
  for (;;) {
    const next = parts.next();
    if (next.done) return next.value;
  }
}
