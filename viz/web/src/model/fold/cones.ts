/**
 * The cone of every slot: what is used by nothing but it, directly or through others of the cone.
 *
 * Cones are nested or apart, so they form a tree. Constants are in none: one constant has users
 * everywhere. Two cones of one `shape` have the same ops, data types and wiring inside, in every
 * step and in the same order of changes; arguments, constants and how addresses are put together
 * may differ, as they do from copy to copy of an unrolled loop. Linear; shapes are numbered by
 * interning, so that unequal cones never share one, except in how a node with several users hangs
 * inside: `wiring` tells.
 */
import type { Timeline } from "../timeline";
import { addressPorts } from "./addresses";
import type { Union } from "./union";

/** Slots looked at in one go. */
const PART = 1000;

/** Slots that a shape says little or nothing about. */
export interface Plain {
  /** 1 for constants. */
  constant: Uint8Array;
  /** Per slot: where the index expression ends that it is in, -1 if it is in none. */
  ends: Int32Array;
}

export interface Cones {
  /** Number of the slot's shape, -1 where its cone cannot be folded. */
  shape: Int32Array;
  /** Slots in the cone, the slot itself included. */
  size: Int32Array;
  /** 1 where a slot of the cone has several users in it. */
  shared: Uint8Array;
  /** Slots by exit: those right below slot s are `inner[innerFirst[s]]` .. */
  innerFirst: Int32Array;
  inner: Int32Array;
}

/** Yields the share done. */
export function* conesOf(t: Timeline, u: Union, plain: Plain): Generator<number, Cones> {
  const { slots } = t;
  const size = new Int32Array(slots);
  const shape = new Int32Array(slots).fill(-1);
  const shared = new Uint8Array(slots);
  const { innerFirst, inner } = byExit(t, u, plain.constant);
  const known = new Map<string, number>();
  const number = (key: string): number => {
    let n = known.get(key);
    if (n === undefined) known.set(key, (n = known.size));
    return n;
  };
  for (let i = 0; i < u.order.length; i++) {
    if (i % PART === PART - 1) yield i / u.order.length;
    const s = u.order[i]!;
    size[s] = 1;
    let foldable = !u.tangled[s];
    const deep: number[] = []; // shapes of what hangs below by several users
    for (let i = innerFirst[s]!; i < innerFirst[s + 1]!; i++) {
      const below = inner[i]!;
      size[s] += size[below]!;
      if (shape[below]! < 0) foldable = false;
      if (isAddress(plain, below)) continue;
      if (shared[below]) shared[s] = 1;
      if (usersOf(t, below, 2).length > 1) {
        shared[s] = 1;
        deep.push(shape[below]!);
      }
    }
    if (!foldable) continue;
    const words: string[] = [];
    for (let v = t.first[s]!; v < t.first[s + 1]!; v++) {
      if (t.node[v]! < 0) {
        words.push("-");
        continue;
      }
      const sources = sourcesOf(t, v, plain, (x) => (u.exit[x] === s ? shape[x]! : "*"));
      words.push(`${what(t, v)}(${sources.join(" ")})`);
    }
    if (deep.length) words.push(deep.sort((a, b) => a - b).join(" "));
    shape[s] = number(words.join("|"));
  }
  return { shape, size, shared, innerFirst, inner };
}

function what(t: Timeline, v: number): string {
  const { nodes } = t.bundle;
  return `${nodes.op[t.node[v]!]!}:${nodes.dtype[t.node[v]!]!}`;
}

/** Arithmetic of an address, short of what it is the address of. */
const isAddress = (plain: Plain, s: number): boolean =>
  plain.ends[s]! >= 0 && plain.ends[s] !== s;

/** A word for each source of a version: constants and addresses are all alike. */
function sourcesOf(
  t: Timeline,
  v: number,
  plain: Plain,
  word: (source: number) => number | string,
): (number | string)[] {
  const ports = addressPorts(t.bundle, t.node[v]!);
  return t.src[v]!.map((x, i) => {
    const whole = plain.constant[x] || plain.ends[x]! >= 0;
    if (ports && i >= ports[0] && i <= ports[1] && whole) return "a";
    return plain.constant[x] ? "c" : word(x);
  });
}

function byExit(t: Timeline, u: Union, constant: Uint8Array): { innerFirst: Int32Array; inner: Int32Array } {
  const innerFirst = new Int32Array(t.slots + 1);
  const inside = (s: number): boolean => u.exit[s]! >= 0 && !constant[s];
  for (const s of u.order) if (inside(s)) innerFirst[u.exit[s]! + 1]!++;
  for (let s = 0; s < t.slots; s++) innerFirst[s + 1]! += innerFirst[s]!;
  const inner = new Int32Array(innerFirst[t.slots]!);
  const at = innerFirst.slice(0, t.slots);
  for (const s of u.order) if (inside(s)) inner[at[u.exit[s]!]!++] = s;
  return { innerFirst, inner };
}

/** The slots that use this one in any step, each once; at most `limit`. */
export function usersOf(t: Timeline, s: number, limit = Infinity): number[] {
  const found: number[] = [];
  for (let i = t.usersFirst[s]!; i < t.usersFirst[s + 1]! && found.length < limit; i++) {
    const user = t.edgeUser[t.usersEdge[i]!]!;
    if (user !== found.at(-1)) found.push(user); // in the order of users
  }
  return found;
}

/** The slots of a cone, its exit first. */
export function coneOf(c: Cones, exit: number): number[] {
  const found = [exit];
  for (let i = 0; i < found.length; i++)
    for (let j = c.innerFirst[found[i]!]!; j < c.innerFirst[found[i]! + 1]!; j++)
      found.push(c.inner[j]!);
  return found;
}

/** The cone's wiring as text: what each slot holds over time, and which sources lie inside. */
export function wiring(t: Timeline, plain: Plain, members: readonly number[]): string {
  const inside = new Set(members);
  const place = new Map<number, number>([[members[0]!, 0]]);
  const words: string[] = [];
  const queue = [members[0]!];
  for (let i = 0; i < queue.length; i++) {
    const s = queue[i]!;
    for (let v = t.first[s]!; v < t.first[s + 1]!; v++) {
      if (t.node[v]! < 0) {
        words.push("-");
        continue;
      }
      const sources = sourcesOf(t, v, plain, (source) => {
        if (inside.has(source) && !place.has(source)) {
          place.set(source, place.size);
          queue.push(source);
        }
        return place.get(source) ?? "*";
      });
      words.push(what(t, v), ...sources.map(String));
    }
    words.push(";");
  }
  return words.join(" ");
}
