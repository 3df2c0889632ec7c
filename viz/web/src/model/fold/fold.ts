/**
 * Folding: which slots of a pass are drawn as one box.
 *
 * Decided for many steps at once (a pass, or a stretch of it), never per step, so that a box does
 * not come and go while the reader steps. Boxes never overlap, and drawing each as one node keeps
 * every step's graph free of cycles. A constant that only boxes use is part of one of them; edges
 * from constants into boxes are not drawn.
 */
import { repeatedBlocks } from "./blocks";
import type { Structure } from "./structure";

export interface FoldOptions {
  /** Fold index expressions, and repeated blocks. */
  index: boolean;
  blocks: boolean;
  /** Slots of boxes that the reader opened: their ends. */
  opened: ReadonlySet<number>;
  /** Slots that are never folded. */
  shown: Iterable<number>;
}

/** Slots drawn as one box. */
export interface Box {
  kind: "index" | "block";
  /** The slot whose place the box takes: the end of the expression, or of one copy. */
  head: number;
  /** Ascending. */
  members: readonly number[];
  /** Copies of the block in the box. */
  copies: number;
  /** Where an index expression, or each copy of a block, ends; those shown as an example, too. */
  ends: readonly number[];
}

export interface Fold {
  boxes: readonly Box[];
  /** Per slot: the box it is in, -1 if it is drawn by itself. */
  of: Int32Array;
  /** Per slot: the slot whose place it takes; itself if it is drawn by itself. */
  head: Int32Array;
  /** 1 for constants: no edge leads from them into a box. */
  constant: Uint8Array;
  /** By slot: the ends of the opened expression or block that ends there. */
  opened: ReadonlyMap<number, readonly number[]>;
}

/** null: nothing is folded, and nothing is open that could be. */
export function foldOf(of: Structure, options: FoldOptions): Fold | null {
  const { timeline: t } = of;
  const found: { kind: Box["kind"]; members: number[]; ends: number[]; copies: number }[] = [];
  const opened = new Map<number, readonly number[]>();
  const box = new Int32Array(t.slots).fill(-1);
  const shown = new Uint8Array(t.slots);
  for (const s of options.shown) shown[s] = 1;
  const add = (kind: Box["kind"], members: number[], ends: number[], copies: number): void => {
    for (const s of members) box[s] = found.length;
    found.push({ kind, members, ends, copies });
  };
  if (options.blocks)
    for (const { exits, hidden, copies } of repeatedBlocks(of, shown, options.opened))
      if (hidden.length) add("block", hidden, exits, copies);
      else if (exits.some((s) => options.opened.has(s)))
        for (const s of exits) opened.set(s, exits);
  if (options.index)
    for (const [end, members] of of.expressions) {
      if (box[end]! >= 0 || members.some((s) => shown[s])) continue;
      if (options.opened.has(end)) opened.set(end, [end]);
      else add("index", [...members], [end], 1);
    }
  if (!found.length && !opened.size) return null;
  if (found.length)
    for (let s = 0; s < t.slots; s++) {
      if (!of.constant[s] || box[s]! >= 0 || shown[s]) continue;
      const home = onlyIn(of, s, box);
      if (home < 0) continue;
      box[s] = home;
      found[home]!.members.push(s);
    }
  const head = Int32Array.from({ length: t.slots }, (_, s) => s);
  const boxes = found.map(({ kind, members, ends, copies }): Box => {
    const first = members[0]!; // before sorting: where it ends
    for (const s of members) head[s] = first;
    return { kind, head: first, members: members.sort((a, b) => a - b), ends, copies };
  });
  return { boxes, of: box, head, constant: of.constant, opened };
}

/** The first of the boxes that use the slot; -1 if anything else does. */
function onlyIn(of: Structure, s: number, box: Int32Array): number {
  const { timeline: t } = of;
  let home = -1;
  for (let i = t.usersFirst[s]!; i < t.usersFirst[s + 1]!; i++) {
    const at = box[t.edgeUser[t.usersEdge[i]!]!]!;
    if (at < 0) return -1;
    home = home < 0 ? at : Math.min(home, at);
  }
  return home;
}

/** The slots drawn at the place of this one: all of its box, or it alone. */
export function membersAt(fold: Fold | null, slot: number): readonly number[] {
  const box = fold?.boxes[fold.of[slot]!];
  return box?.members ?? [slot];
}
