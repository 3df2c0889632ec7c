/**
 * One state of a rewrite: which slot holds what after step k, who uses whom.
 *
 * Going one step costs the size of that step's change; going far costs at most a search per slot.
 * Several replays may share one timeline (the panes before and after do). Never touches the DOM.
 */
import type { Bundle } from "../data/messages/bundle";
import { opOf } from "./content";
import { type Timeline, timelineOf } from "./timeline";

/** One line of a slot's history. */
export interface HistoryEntry {
  /** 0: the input graph. */
  step: number;
  /** Trace-wide rule id, -1 for the input graph. */
  rule: number;
  what: string;
}

export class Replay {
  readonly timeline: Timeline;
  /** Per slot: its version in the timeline. */
  readonly version: Int32Array;
  /** Per union edge of the timeline: 1 if it exists now, and which source of its user it is. */
  readonly live: Uint8Array;
  readonly port: Uint16Array;
  private at = 0;
  private present = 0;

  constructor(
    readonly bundle: Bundle,
    timeline?: Timeline,
  ) {
    this.timeline = timeline ?? timelineOf(bundle);
    this.version = this.timeline.first.slice(0, this.timeline.slots);
    this.live = new Uint8Array(this.timeline.edgeSrc.length);
    this.port = new Uint16Array(this.timeline.edgeSrc.length);
    for (const v of this.version) {
      if (this.timeline.node[v]! >= 0) this.present++;
      this.enter(v);
    }
  }

  /** The state shown: after this many steps. */
  get step(): number {
    return this.at;
  }

  /** How many slots hold a node. */
  get count(): number {
    return this.present;
  }

  /** Goes to the state after step k, 0..steps; beyond the ends: to the nearest. */
  goto(k: number): void {
    const t = this.timeline;
    const target = Math.max(0, Math.min(t.steps, Math.trunc(k)));
    if (target === this.at) return;
    const from = t.madeFirst[Math.min(target, this.at) + 1]!;
    const to = t.madeFirst[Math.max(target, this.at) + 1]!;
    if (to - from > 2 * t.slots) {
      for (let s = 0; s < t.slots; s++) this.put(s, t.versionAt(s, target));
    } else if (target > this.at) {
      for (let i = from; i < to; i++) this.put(t.slot[t.made[i]!]!, t.made[i]!);
    } else {
      for (let i = to - 1; i >= from; i--) this.put(t.slot[t.made[i]!]!, t.made[i]! - 1);
    }
    this.at = target;
  }

  private put(s: number, v: number): void {
    const old = this.version[s]!;
    if (old === v) return;
    const { node, edge } = this.timeline;
    this.version[s] = v;
    this.present += (node[v]! >= 0 ? 1 : 0) - (node[old]! >= 0 ? 1 : 0);
    for (const e of edge[old]!) this.live[e] = 0;
    this.enter(v);
  }

  /** The edges of a version exist from now on. */
  private enter(v: number): void {
    const edges = this.timeline.edge[v]!;
    for (let i = 0; i < edges.length; i++) {
      this.live[edges[i]!] = 1;
      this.port[edges[i]!] = i;
    }
  }

  /** Content index of the node that the slot holds, -1 if it holds none. */
  nodeOf(slot: number): number {
    const v = this.version[slot];
    return v === undefined ? -1 : this.timeline.node[v]!;
  }

  /** The slots of the node's sources, in order. */
  srcOf(slot: number): readonly number[] {
    const v = this.version[slot];
    return v === undefined ? [] : this.timeline.src[v]!;
  }

  has(slot: number): boolean {
    return this.nodeOf(slot) >= 0;
  }

  /** The slots that hold a node, ascending. */
  *slots(): Generator<number> {
    for (let s = 0; s < this.version.length; s++) if (this.has(s)) yield s;
  }

  /** The slots that use this one, each once, ascending; at most `limit` of them. */
  usersOf(slot: number, limit = Infinity): readonly number[] {
    const t = this.timeline;
    const found: number[] = [];
    if (!(slot >= 0 && slot < t.slots)) return found;
    for (let i = t.usersFirst[slot]!; i < t.usersFirst[slot + 1]!; i++) {
      if (found.length >= limit) break;
      const e = t.usersEdge[i]!;
      const user = t.edgeUser[e]!;
      if (this.live[e] && user !== found.at(-1)) found.push(user);
    }
    return found;
  }

  /** What happened to the slot in this rewrite, oldest first. */
  history(slot: number): HistoryEntry[] {
    const t = this.timeline;
    const entries: HistoryEntry[] = [];
    if (!(slot >= 0 && slot < t.slots)) return entries;
    for (let v = t.first[slot]!; v < t.first[slot + 1]!; v++) {
      const first = v === t.first[slot];
      if (first && t.node[v]! < 0) continue;
      const step = t.step[v]!;
      const rule = step > 0 ? this.bundle.steps[step - 1]!.rule : -1;
      entries.push({ step, rule, what: this.say(v, first) });
    }
    return entries;
  }

  private say(v: number, first: boolean): string {
    const { bundle, timeline: t } = this;
    const op = (c: number): string => opOf(bundle, c);
    const now = t.node[v]!;
    if (first) return `${op(now)} in the input graph`;
    const step = bundle.steps[t.step[v]! - 1]!;
    const was = t.node[v - 1]!;
    if (now < 0) {
      const merged = step.slot === t.slot[v] && step.result !== step.slot;
      return merged ? `${op(step.before)} replaced by ${op(step.after)}` : `${op(was)} dropped`;
    }
    if (was < 0) return v - 1 === t.first[t.slot[v]!] ? `${op(now)} created` : `${op(now)} is back`;
    if (step.slot === t.slot[v]) return `${op(was)} becomes ${op(now)}`;
    const moved = movedSources(t.src[v - 1]!, t.src[v]!);
    if (moved.length)
      return `${moved.length > 1 ? "sources" : "source"} ${moved.join(", ")} moved`;
    return op(was) === op(now) ? "rebuilt" : `${op(was)} becomes ${op(now)}`;
  }
}

/** Positions at which the two source lists differ. */
export function movedSources(before: readonly number[], after: readonly number[]): number[] {
  const moved: number[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++)
    if (before[i] !== after[i]) moved.push(i);
  return moved;
}
