/**
 * Which slots a picture of "around change" holds, for all steps of a rewrite.
 *
 * The neighbourhoods of all steps together are laid out once, so that a node keeps its place
 * while the reader steps through the pass, and a pass that touches forty nodes of a program of
 * twenty thousand gets a picture of a few hundred. A layout per neighbourhood would be tighter
 * but would move the survivors at every step. Small rewrites, and those that touch nearly all,
 * show their part of the whole union: then the picture is the same in both scopes.
 */
import { stepDiff } from "./diff";
import { AROUND, neighbourhood } from "./neighbourhood";
import { Replay } from "./replay";
import type { Timeline } from "./timeline";

/** Up to this many slots, both scopes share the layout of the union. */
const SMALL = 260;
/** From this share of all slots on as well. */
const MOST = 0.7;
const STEPS_PER_SLICE = 20;

/** All slots that ever hold a node, ascending. */
export function allSlots(t: Timeline): Int32Array {
  const found: number[] = [];
  for (let s = 0; s < t.slots; s++) {
    for (let v = t.first[s]!; v < t.first[s + 1]!; v++)
      if (t.node[v]! >= 0) {
        found.push(s);
        break;
      }
  }
  return Int32Array.from(found);
}

/** The slots to lay out for "around change", ascending; yields the share done, 0..1. */
export function* slotsAround(
  t: Timeline,
  opened: ReadonlySet<number>,
): Generator<number, Int32Array> {
  const all = allSlots(t);
  if (all.length <= SMALL) return all;
  const wanted = new Uint8Array(t.slots);
  const before = new Replay(t.bundle, t);
  const after = new Replay(t.bundle, t);
  const options = { ...AROUND, opened };
  for (let k = 0; k <= t.steps; k++) {
    before.goto(k - 1);
    after.goto(k);
    const part = neighbourhood(before, after, stepDiff(before, after), options);
    for (const s of part.shown) wanted[s] = 1;
    for (const g of part.groups) wanted[g.heads[0]!] = 1;
    if (k % STEPS_PER_SLICE === STEPS_PER_SLICE - 1) yield k / t.steps;
  }
  const found = all.filter((s) => wanted[s]);
  return found.length > MOST * all.length ? all : found;
}

/** The edges between some slots over all steps, as input for the layout. */
export function layoutInputOf(
  t: Timeline,
  slots: Int32Array,
): { n: number; src: Int32Array; user: Int32Array } {
  const place = new Int32Array(t.slots).fill(-1);
  slots.forEach((s, i) => (place[s] = i));
  const src: number[] = [];
  const user: number[] = [];
  for (let e = 0; e < t.edgeSrc.length; e++) {
    const a = place[t.edgeSrc[e]!]!;
    const b = place[t.edgeUser[e]!]!;
    if (a < 0 || b < 0) continue;
    src.push(a);
    user.push(b);
  }
  return { n: slots.length, src: Int32Array.from(src), user: Int32Array.from(user) };
}
