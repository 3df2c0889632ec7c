/**
 * Index expressions: whole-number arithmetic that nothing uses but the address of an op that takes
 * one, such as a load, directly or through more such arithmetic.
 *
 * An expression ends at the node that it is the address of, or at arithmetic that several of them
 * share. Linear in nodes and edges.
 */
import type { Bundle } from "../../data/messages/bundle";
import { dtypeOf } from "../content";
import { groupAt, wordsAt } from "../ops";
import type { Timeline } from "../timeline";
import type { Union } from "./union";

/** "int32", "i32", "uint8.vec(4)", "index", "bool": types of which addresses and gates are made. */
const WHOLE = /^(?:[iu]\d|u?int|u?long|u?short|u?char|index|weakint|bool)/;

/** The first and the last source of a content that are addresses; undefined for ops without any. */
export function addressPorts(b: Bundle, c: number): readonly [number, number] | undefined {
  const ports = wordsAt(b, c).addresses;
  return ports && [ports[0], ports[1] < 0 ? Infinity : ports[1]];
}

/** Is the content arithmetic on whole numbers? */
export function isWhole(b: Bundle, c: number): boolean {
  return groupAt(b, c) === "arithmetic" && WHOLE.test(dtypeOf(b, c));
}

/** Per slot: where its index expression ends, itself included; -1 for what is in none. */
export function expressions(t: Timeline, u: Union, constant: Uint8Array): Int32Array {
  const end = new Int32Array(t.slots).fill(-1);
  for (let i = u.order.length - 1; i >= 0; i--) {
    const s = u.order[i]!;
    if (u.tangled[s] || s === t.bundle.root) continue;
    if (always(t, s, (c) => wordsAt(t.bundle, c).addresses !== undefined)) end[s] = s;
    else if (constant[s] || always(t, s, (c) => isWhole(t.bundle, c))) end[s] = endOf(t, s, end);
  }
  return end;
}

/** The one end that all users lead to; the slot itself if they lead to several. */
function endOf(t: Timeline, s: number, end: Int32Array): number {
  let at = -1;
  for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
    const e = t.usersEdge[j]!;
    const to = end[t.edgeUser[e]!]!;
    if (to < 0 || !leadsToAddress(t, e)) return -1;
    at = at < 0 || at === to ? to : s;
  }
  return at;
}

/** Is it so whenever the slot holds a node? */
function always(t: Timeline, s: number, so: (content: number) => boolean): boolean {
  for (let v = t.first[s]!; v < t.first[s + 1]!; v++)
    if (t.node[v]! >= 0 && !so(t.node[v]!)) return false;
  return true;
}

/** Is the edge an address (or goes into arithmetic), in every version of its user that has it? */
function leadsToAddress(t: Timeline, e: number): boolean {
  const user = t.edgeUser[e]!;
  for (let v = t.first[user]!; v < t.first[user + 1]!; v++) {
    const port = t.edge[v]!.indexOf(e);
    if (port < 0) continue;
    const taken = addressPorts(t.bundle, t.node[v]!);
    if (taken && (port < taken[0] || port > taken[1])) return false;
  }
  return true;
}
