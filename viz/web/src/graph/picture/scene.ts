/**
 * What one pane shows of a step: the state of every node and edge, and which of them at all.
 *
 * Pure questions to the model; never draws.
 */
import type { EdgeChange, StepDiff } from "../../model/diff";
import { isDrawn } from "../../model/around/around";
import { type Inside, insidesOf } from "../../model/fold/boxes";
import { type Box, type Fold, membersAt } from "../../model/fold/fold";
import type { Group, Neighbourhood } from "../../model/fold/neighbourhood";
import { roleOf } from "../../model/content";
import type { Replay } from "../../model/replay";
import type { OpGroup } from "../../model/ops";
import { BOX_H, BOX_W } from "../../model/layered";
import type { Label, Labels } from "./labels";
import type { Picture } from "./picture";
import type { Rect } from "../view/rect";

export type Side = "before" | "after" | "merged";
/** "ghost": not in this pane's state, but in the other's. "none": in neither, or out of scope. */
export type NodeState = "none" | "same" | "removed" | "added" | "moved" | "replaced" | "ghost";
export type EdgeState = "none" | "same" | EdgeChange;

/** What both panes share in one step. */
export interface Content {
  picture: Picture;
  labels: Labels;
  before: Replay;
  after: Replay;
  diff: StepDiff;
  /** The part around the change; null: everything. */
  part: Neighbourhood | null;
}

export class Scene {
  private partEdges: number[] | null = null;
  private readonly boxStates = new Map<Box, NodeState>();
  private readonly boxLabels = new Map<Box, Label>();
  private changes: Map<Box, Inside> | null = null;
  private readonly fold: Fold | null;

  constructor(
    readonly side: Side,
    readonly content: Content,
  ) {
    this.fold = content.picture.fold;
  }

  /** The box that the slot is folded into, null if it is drawn by itself. */
  box(slot: number): Box | null {
    return this.fold?.boxes[this.fold.of[slot]!] ?? null;
  }

  /** The slot at whose place this one is drawn. */
  at(slot: number): number {
    return this.fold?.head[slot] ?? slot;
  }

  /** State of what is drawn for the slot; a box has it at its head alone. */
  state(slot: number): NodeState {
    const { picture, part } = this.content;
    if (!picture.has(slot) || (part && !part.shown.has(slot))) return "none";
    const box = this.box(slot);
    if (!box) return this.ownState(slot);
    return slot === box.head ? this.boxState(box) : "none";
  }

  /** State of the slot itself, whether it is drawn or not. */
  ownState(slot: number): NodeState {
    const { before, after, diff } = this.content;
    const was = before.has(slot);
    const is = after.has(slot);
    const change = diff.nodes.get(slot) ?? "same";
    if (this.side === "before") {
      if (!was) return is ? "ghost" : "none";
      if (!is || change === "replaced" || change === "removed") return "removed";
      return change === "moved" ? "moved" : "same";
    }
    if (!is) return was ? (this.side === "merged" ? "removed" : "ghost") : "none";
    if (!was || change === "added") return "added";
    if (change === "replaced") return this.side === "merged" ? "replaced" : "added";
    return change === "moved" ? "moved" : "same";
  }

  /** A box is never removed or added: what changes in it is said by signs of their own. */
  private boxState(box: Box): NodeState {
    let state = this.boxStates.get(box);
    if (state === undefined) {
      const { before, after } = this.content;
      const was = box.members.some((s) => before.has(s));
      const is = box.members.some((s) => after.has(s));
      const here = this.side === "before" ? was : this.side === "after" ? is : was || is;
      state = here ? "same" : was || is ? "ghost" : "none";
      this.boxStates.set(box, state);
    }
    return state;
  }

  /** What the step changes inside boxes, as far as this pane shows it. */
  insides(): ReadonlyMap<Box, Inside> {
    if (this.changes) return this.changes;
    this.changes = insidesOf(this.content.diff, this.fold);
    for (const inside of this.changes.values()) {
      if (this.side === "after") inside.removed = 0;
      if (this.side === "before") inside.added = 0;
    }
    return this.changes;
  }

  /** The group of ops that what is drawn for the slot is coloured as. */
  group(slot: number): OpGroup {
    const { labels } = this.content;
    const box = this.box(slot);
    if (!box) return labels.of(this.node(slot)).group;
    const replay = this.replayOf(box);
    const end = replay.has(box.head) ? box.head : box.members.find((s) => replay.has(s));
    return end === undefined ? "other" : labels.of(replay.nodeOf(end)).group;
  }

  /** The words on the box of the slot. */
  label(slot: number): Label {
    const { labels } = this.content;
    const box = this.box(slot);
    if (!box) return labels.of(this.node(slot));
    let label = this.boxLabels.get(box);
    if (!label) {
      label = labels.ofBox(box, this.fold!, this.replayOf(box));
      this.boxLabels.set(box, label);
    }
    return label;
  }

  /** The state that the pane shows a box in. */
  replayOf(box: Box): Replay {
    const { before, after } = this.content;
    const first = this.side === "before" ? before : after;
    if (box.members.some((s) => first.has(s))) return first;
    return first === before ? after : before;
  }

  /** Content index of what the pane shows in the slot. */
  node(slot: number): number {
    const { before, after } = this.content;
    if (this.side === "before") return before.has(slot) ? before.nodeOf(slot) : after.nodeOf(slot);
    return after.has(slot) ? after.nodeOf(slot) : before.nodeOf(slot);
  }

  edgeState(e: number): EdgeState {
    const { before, after, diff } = this.content;
    if (this.side === "before")
      return before.live[e] ? (diff.before.get(e) ?? "same") : "none";
    if (after.live[e]) return diff.after.get(e) ?? "same";
    return this.side === "merged" && before.live[e] ? "removed" : "none";
  }

  /** The state that edge `e` takes its port from. */
  private stateOf(e: number): Replay {
    const { before, after } = this.content;
    return this.side === "before" || !after.live[e] ? before : after;
  }

  port(e: number): number {
    return this.intoBox(e) ? 0 : this.stateOf(e).port[e]!;
  }

  /** A box has one port: all edges enter it in the middle. */
  ports(e: number): number {
    if (this.intoBox(e)) return 1;
    return this.stateOf(e).srcOf(this.content.picture.timeline.edgeUser[e]!).length;
  }

  /** What the source of edge `e` is to its user, "" where that is not said. */
  role(e: number): string {
    const { bundle } = this.content.picture.timeline;
    if (!bundle.roles || this.intoBox(e)) return "";
    const state = this.stateOf(e);
    return roleOf(bundle, state.nodeOf(this.content.picture.timeline.edgeUser[e]!), state.port[e]!);
  }

  private intoBox(e: number): boolean {
    return this.fold !== null && this.fold.of[this.content.picture.timeline.edgeUser[e]!]! >= 0;
  }

  /** Both ends have a place, and they are not in one box. */
  connects(e: number): boolean {
    const { picture } = this.content;
    const { timeline: t } = picture;
    return (
      picture.has(t.edgeSrc[e]!) && picture.has(t.edgeUser[e]!) && isDrawn(this.fold, t.edgeSrc[e]!, t.edgeUser[e]!)
    );
  }

  /** Edges with the same key are drawn as one line; -1 for one that is drawn by itself. */
  lineOf(e: number): number {
    const { timeline: t, slots, place } = this.content.picture;
    const { fold } = this;
    const src = t.edgeSrc[e]!;
    const user = t.edgeUser[e]!;
    if (!fold || (fold.of[src]! < 0 && fold.of[user]! < 0)) return -1;
    return place[src]! * slots.length + place[user]!;
  }

  /** Sources of the slot as the pane shows it, as union edges. */
  sourceEdges(slot: number): Int32Array {
    const { before, after, picture } = this.content;
    const replay = this.side === "before" || !after.has(slot) ? before : after;
    return picture.timeline.edge[replay.version[slot]!]!;
  }

  visitNodes(rect: Rect, visitor: (slot: number) => void): void {
    const { picture, part } = this.content;
    if (!part) {
      picture.visit(rect, visitor);
      return;
    }
    for (const s of part.shown) {
      if (!picture.has(s)) continue;
      const x = picture.x(s);
      const y = picture.y(s);
      if (x + BOX_W / 2 < rect.left || x - BOX_W / 2 > rect.right) continue;
      if (y + BOX_H / 2 < rect.top || y - BOX_H / 2 > rect.bottom) continue;
      visitor(s);
    }
  }

  /** Every edge that is drawn as a line and may touch the rectangle. */
  visitEdges(rect: Rect, visitor: (e: number) => void): void {
    const { picture, part } = this.content;
    if (!part) {
      picture.visitEdges(rect, visitor);
      return;
    }
    this.partEdges ??= this.edgesAmong(part.shown);
    this.partEdges.forEach(visitor);
  }

  /** The groups of folded nodes that hang at something this pane has. */
  groups(): Group[] {
    const { part, picture } = this.content;
    if (!part) return [];
    const here = (s: number): boolean => {
      const state = this.state(s);
      return state !== "none" && state !== "ghost";
    };
    return part.groups.filter((g) => picture.has(g.heads[0]!) && g.anchors.some(here));
  }

  /** Where expressions and copies end that the reader opened: there they can be folded again. */
  handles(): number[] {
    return [...(this.fold?.opened.keys() ?? [])].filter((s) => {
      const state = this.state(s);
      return state !== "none" && state !== "ghost";
    });
  }

  private edgesAmong(shown: ReadonlySet<number>): number[] {
    const { picture, before, after } = this.content;
    const { timeline: t, stub } = picture;
    const found = new Set<number>();
    for (const head of shown)
      for (const s of membersAt(this.fold, head))
        for (const replay of [before, after])
          for (const e of t.edge[replay.version[s]!]!)
            if (!stub[e] && shown.has(this.at(t.edgeSrc[e]!)) && this.connects(e)) found.add(e);
    return [...found];
  }
}
