/**
 * What one pane shows of a step: the state of every node and edge, and which of them at all.
 *
 * Pure questions to the model; never draws.
 */
import type { EdgeChange, StepDiff } from "../model/diff";
import type { Group, Neighbourhood } from "../model/neighbourhood";
import type { Replay } from "../model/replay";
import { BOX_H, BOX_W } from "../model/layout/layered";
import type { Labels } from "./labels";
import type { Picture, Rect } from "./picture";

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

  constructor(
    readonly side: Side,
    readonly content: Content,
  ) {}

  state(slot: number): NodeState {
    const { picture, before, after, diff, part } = this.content;
    if (!picture.has(slot) || (part && !part.shown.has(slot))) return "none";
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
    return this.stateOf(e).port[e]!;
  }

  ports(e: number): number {
    return this.stateOf(e).srcOf(this.content.picture.timeline.edgeUser[e]!).length;
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

  private edgesAmong(shown: ReadonlySet<number>): number[] {
    const { picture, before, after } = this.content;
    const { timeline: t, stub } = picture;
    const found = new Set<number>();
    for (const s of shown)
      for (const replay of [before, after])
        for (const e of t.edge[replay.version[s]!]!)
          if (!stub[e] && shown.has(t.edgeSrc[e]!) && picture.has(t.edgeSrc[e]!) && picture.has(s))
            found.add(e);
    return [...found];
  }
}
