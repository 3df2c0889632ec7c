/**
 * The graph as it is drawn before and after a step: each box is one node, known by its head.
 *
 * Neighbours are those of either state. Costs what is asked for, never the size of the graph.
 */
import type { StepDiff } from "../diff";
import type { Replay } from "../replay";
import { type Box, type Fold, membersAt } from "./fold";

type Neighbours = (replay: Replay, s: number) => readonly number[];

const sourcesOf: Neighbours = (replay, s) => replay.srcOf(s);
const usersOf: Neighbours = (replay, s) => replay.usersOf(s);

export class BoxGraph {
  /** A box has as many neighbours to look at as members: once is enough. */
  private readonly found = {
    sources: new Map<number, readonly number[]>(),
    users: new Map<number, readonly number[]>(),
  };

  constructor(
    private readonly before: Replay,
    private readonly after: Replay,
    private readonly fold: Fold | null,
  ) {}

  /** The slot at whose place this one is drawn. */
  at(slot: number): number {
    return this.fold?.head[slot] ?? slot;
  }

  has(slot: number): boolean {
    return membersAt(this.fold, slot).some((s) => this.before.has(s) || this.after.has(s));
  }

  /** What the slot holds, or one of its box; after the step, where it is there. */
  content(slot: number): number {
    for (const replay of [this.after, this.before]) {
      if (replay.has(slot)) return replay.nodeOf(slot);
      const other = membersAt(this.fold, slot).find((s) => replay.has(s));
      if (other !== undefined) return replay.nodeOf(other);
    }
    return -1;
  }

  /** Slots drawn there. */
  weight(slot: number): number {
    return membersAt(this.fold, slot).length;
  }

  /** Each once, at most `limit`. */
  sources(slot: number, limit = Infinity): number[] {
    const { before, after, fold } = this;
    if (!fold) return merge(before.srcOf(slot), after.srcOf(slot), limit);
    return this.near(fold, slot, this.found.sources, sourcesOf).slice(0, limit);
  }

  users(slot: number, limit = Infinity): number[] {
    const { before, after, fold } = this;
    if (!fold) return merge(before.usersOf(slot, limit), after.usersOf(slot, limit), limit);
    return this.near(fold, slot, this.found.users, usersOf).slice(0, limit);
  }

  /** What is drawn next to the slot's box, or to the slot. */
  private near(
    fold: Fold,
    slot: number,
    known: Map<number, readonly number[]>,
    of: Neighbours,
  ): readonly number[] {
    const made = known.get(slot);
    if (made) return made;
    const found = new Set<number>();
    const boxed = fold.of[slot]! >= 0;
    for (const s of membersAt(fold, slot))
      for (const replay of [this.before, this.after])
        for (const t of of(replay, s)) {
          const silent = boxed ? fold.constant[t] : fold.constant[s] && fold.of[t]! >= 0;
          if (!silent && fold.head[t] !== slot) found.add(fold.head[t]!);
        }
    const list = [...found];
    known.set(slot, list);
    return list;
  }
}

/** Nodes of a state that are not drawn: all of each box but one. */
export function foldedAway(replay: Replay, fold: Fold | null): number {
  let away = 0;
  for (const box of fold?.boxes ?? []) away += Math.max(0, countIn(replay, box) - 1);
  return away;
}

/** Nodes of a box that the state has. */
export function countIn(replay: Replay, box: Box): number {
  let n = 0;
  for (const s of box.members) if (replay.has(s)) n++;
  return n;
}

/** What a step changes inside a box. "replaced" counts as removed and as added. */
export interface Inside {
  removed: number;
  added: number;
  moved: number;
}

/** By box; without those in which nothing changes. */
export function insidesOf(diff: StepDiff, fold: Fold | null): Map<Box, Inside> {
  const found = new Map<Box, Inside>();
  for (const [s, change] of fold ? diff.nodes : []) {
    const box = fold?.boxes[fold.of[s]!];
    if (!box || change === "same") continue;
    let inside = found.get(box);
    if (!inside) found.set(box, (inside = { removed: 0, added: 0, moved: 0 }));
    const both = change === "replaced";
    if (both || change === "removed") inside.removed++;
    if (both || change === "added") inside.added++;
    if (change === "moved") inside.moved++;
  }
  return found;
}

function merge(a: readonly number[], b: readonly number[], limit: number): number[] {
  // Most lists are short and the same in both states.
  if (a.length <= 2 && a[0] === b[0] && a[1] === b[1] && a.length === b.length && a[0] !== a[1])
    return a.slice(0, limit);
  const found = new Set<number>();
  for (const list of a === b ? [a] : [a, b])
    for (let i = 0; i < list.length && found.size < limit; i++) found.add(list[i]!);
  return [...found];
}
