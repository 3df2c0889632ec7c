/**
 * Repeated blocks: cones of one shape, on one level, that the same nodes use.
 *
 * Looked for from the outputs up, so that the largest repeated part is found first, then inside the
 * one copy that stays shown as the example. Copies that are summed up one after the other (or
 * multiplied, compared) count as used by the same node, and the sums of folded copies alone are
 * folded with them. Copies of one level never need each other, so that one box for all of them
 * closes no cycle. Near-linear: what is compared node by node has a budget.
 */
import type { Timeline } from "../timeline";
import { COPIES, enough, put } from "./alike";
import { coneOf, usersOf, wiring } from "./cones";
import type { Structure } from "./structure";
import type { Union } from "./union";

/** Slots whose wiring is compared, per slot of the pass. */
const COMPARED = 8;

/** Copies of one block. */
export interface Block {
  /** The slot where each copy ends. */
  exits: number[];
  /** What is folded of them, and how many copies that is: none where they have to be shown. */
  hidden: number[];
  copies: number;
}

/** `shown` marks slots that must not be folded, `opened` holds slots of boxes that were opened. */
export function repeatedBlocks(
  of: Structure,
  shown: Uint8Array,
  opened: ReadonlySet<number>,
): Block[] {
  const { timeline: t, union: u, cones, joins } = of;
  const blocks: Block[] = [];
  const block = new Int32Array(t.slots).fill(-1); // of a copy's exit
  const hidden = new Uint8Array(t.slots);
  // What is inside an opened copy: folded, if at all, with its like in that copy alone.
  const copy = new Int32Array(t.slots).fill(-1);
  const kept = above(u, shown);
  let budget = COMPARED * u.order.length;

  const users = (s: number): string => {
    const found = new Set<number>();
    for (const user of usersOf(t, s))
      found.add(block[user]! < 0 ? joins[user]! : -2 - block[user]!);
    return `${copy[s]!}/${[...found].sort((a, b) => a - b).join(" ")}`;
  };
  /** Those of the exits that are copies of each other. */
  const copies = (exits: readonly number[]): number[][] => {
    const free = exits.filter((s) => !hidden[s]);
    if (!enough(cones, free)) return [];
    return split(free, users).flatMap((found) => {
      if (!enough(cones, found)) return [];
      if (!cones.shared[found[0]!]) return [found];
      budget -= found.length * cones.size[found[0]!]!;
      return budget < 0 ? [] : split(found, (s) => wiring(t, of, coneOf(cones, s)));
    });
  };
  const fold = (exits: number[]): Block => {
    const none = { exits, hidden: [], copies: 0 };
    if (exits.some((s) => opened.has(s))) {
      for (const s of exits) for (const m of coneOf(cones, s)) if (m !== s) copy[m] = s;
      return none;
    }
    let away = exits.filter((s) => !kept[s]);
    if (away.length === exits.length) {
      const example = lastUsed(t, u, exits);
      away = away.filter((s) => s !== example);
    }
    if (away.length < COPIES - 1) return none;
    const members = away.flatMap((s) => coneOf(cones, s));
    for (const m of members) hidden[m] = 1;
    for (const s of joinsBetween(of, away, shown, hidden)) members.push(s);
    return { exits, hidden: members, copies: away.length };
  };

  for (const alike of of.alike)
    for (const exits of copies(alike)) {
      if (!enough(cones, exits)) continue;
      for (const s of exits) block[s] = blocks.length;
      blocks.push(fold(exits));
    }
  return blocks;
}

/** Joins of folded copies alone, hidden with them; where the joining ends stays shown. */
function joinsBetween(
  of: Structure,
  away: readonly number[],
  shown: Uint8Array,
  hidden: Uint8Array,
): number[] {
  const { timeline: t, union: u, joins, ends } = of;
  const folded = new Set(away);
  const found: number[] = [];
  const queue = [...away];
  for (let i = 0; i < queue.length; i++)
    for (const s of usersOf(t, queue[i]!)) {
      if (hidden[s] || shown[s] || joins[s] === s || ends[s]! >= 0) continue;
      let all = true;
      for (let e = u.sourceFirst[s]!; all && e < u.sourceFirst[s + 1]!; e++)
        all = folded.has(t.edgeSrc[e]!);
      if (!all) continue;
      folded.add(s);
      hidden[s] = 1;
      found.push(s);
      queue.push(s);
    }
  return found;
}

/** The copy that is used last, where they are joined one by one: what joins the others can go. */
function lastUsed(t: Timeline, u: Union, exits: readonly number[]): number {
  let found = exits[0]!;
  let highest = -1;
  for (const s of exits) {
    let level = 0;
    for (const user of usersOf(t, s)) level = Math.max(level, u.level[user]!);
    if (level > highest || (level === highest && s < found)) [found, highest] = [s, level];
  }
  return found;
}

/** 1 for every slot whose cone holds a marked one. */
function above(u: Union, marked: Uint8Array): Uint8Array {
  const found = marked.slice();
  for (const s of u.order) if (found[s] && u.exit[s]! >= 0) found[u.exit[s]!] = 1;
  return found;
}

function split(slots: readonly number[], key: (s: number) => string): number[][] {
  const parts = new Map<string, number[]>();
  for (const s of slots) put(parts, key(s), s);
  return [...parts.values()];
}
