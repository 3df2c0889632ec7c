/**
 * What of a pass may be copies of one block: cones of one shape on one level, and joins that are
 * done one after the other. Says nothing about which of them are folded (blocks.ts).
 */
import { wordsAt } from "../ops";
import type { Timeline } from "../timeline";
import { type Cones, usersOf } from "./cones";
import type { Union } from "./union";

/** Copies from which on they are folded, and slots that have to be saved by it. */
export const COPIES = 3;
const SAVED = 4;

/** Per level, the highest first: exits of equal shape, as long as there are enough of them. */
export function alikeByLevel(u: Union, cones: Cones, ends: Int32Array): readonly number[][] {
  const rows: Map<number, number[]>[] = [];
  for (const s of u.order) {
    const leaf = u.sourceFirst[s] === u.sourceFirst[s + 1];
    // An index expression is folded as a whole.
    const inside = ends[s]! >= 0 && ends[s] !== s;
    if (leaf || inside || cones.shape[s]! < 0) continue;
    put((rows[u.level[s]!] ??= new Map<number, number[]>()), cones.shape[s]!, s);
  }
  return rows
    .reverse()
    .flatMap((row) => [...row.values()].filter((exits) => enough(cones, exits)));
}

/** Whether folding cones of these exits saves as much as it should. */
export function enough(cones: Cones, exits: readonly number[]): boolean {
  return exits.length >= COPIES && (exits.length - 1) * cones.size[exits[0]!]! >= SAVED;
}

/** Per slot: where the joins (sums of sums) that it is part of end; itself for any other. */
export function joinsOf(t: Timeline, u: Union): Int32Array {
  const end = Int32Array.from({ length: t.slots }, (_, s) => s);
  const kind = end.map((s) => (u.tangled[s] ? -1 : joinKind(t, s)));
  for (let i = u.order.length - 1; i >= 0; i--) {
    const s = u.order[i]!;
    if (kind[s]! < 0) continue;
    const [user, other] = usersOf(t, s, 2);
    if (user !== undefined && other === undefined && kind[user] === kind[s]) end[s] = end[user]!;
  }
  return end;
}

/** A number for op and data type of a join, -1 for any other node and for one that changes. */
function joinKind(t: Timeline, s: number): number {
  const { nodes, dtypes } = t.bundle;
  let found = -1;
  for (let v = t.first[s]!; v < t.first[s + 1]!; v++) {
    const c = t.node[v]!;
    if (c < 0) continue;
    const kind = nodes.op[c]! * (dtypes.length + 1) + nodes.dtype[c]! + 1;
    if (!wordsAt(t.bundle, c).joins || (found >= 0 && found !== kind)) return -1;
    found = kind;
  }
  return found;
}

/** Adds to the list of a key. */
export function put<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
