/**
 * All states of one rewrite, indexed by slot: the versions of every slot and the union of all edges.
 *
 * A version is what a slot holds from one step on: a content node and source slots, or nothing.
 * The version before version v of a slot is always v - 1, so a step is undone without inverse
 * deltas, and any step is reached by a search per slot. Built once per bundle in time linear in
 * it; never changes afterwards. Checks every index, because a trace may come from a stranger.
 */
import type { Bundle } from "../data/messages/bundle";

/** A bundle that contradicts itself. */
export class BundleError extends Error {
  constructor(
    readonly what: string,
    readonly where: string,
  ) {
    super(`${what} (${where})`);
    this.name = "BundleError";
  }

  readonly hint = "Record the program again; if it happens again, report it with the trace file.";
}

const NONE: readonly number[] = [];

/** The timelines made so far: the page and its panes ask for the same one. */
const known = new WeakMap<Bundle, Timeline>();

/** The timeline of a bundle, which must not change any more; made once. */
export function timelineOf(bundle: Bundle): Timeline {
  return known.get(bundle) ?? new Timeline(bundle);
}

export class Timeline {
  readonly slots: number;
  readonly steps: number;
  /** Versions of slot s: `first[s]` .. `first[s + 1] - 1`, by step; the first one is state 0. */
  readonly first: Int32Array;
  /** Per version: slot, step that made it (0: the input graph), content (-1: not there). */
  readonly slot: Int32Array;
  readonly step: Int32Array;
  readonly node: Int32Array;
  /** Per version: source slots in order, and the union edge to each. */
  readonly src: (readonly number[])[] = [];
  readonly edge: Int32Array[] = [];
  /** Versions made by step k (1-based): `made[madeFirst[k]]` .. `made[madeFirst[k + 1] - 1]`. */
  readonly madeFirst: Int32Array;
  readonly made: Int32Array;
  /** Union edges: every (source, user, nth occurrence) of any step. */
  readonly edgeSrc: Int32Array;
  readonly edgeUser: Int32Array;
  /** Union edges by source: `usersEdge[usersFirst[s]]` .., in the order of the user's slot. */
  readonly usersFirst: Int32Array;
  readonly usersEdge: Int32Array;

  constructor(readonly bundle: Bundle) {
    this.slots = bundle.slots;
    this.steps = bundle.steps.length;
    this.check();
    const counts = this.countVersions();
    this.first = counts.first;
    const total = counts.total;
    this.slot = new Int32Array(total);
    this.step = new Int32Array(total);
    this.node = new Int32Array(total).fill(-1);
    this.madeFirst = counts.madeFirst;
    this.made = new Int32Array(total - this.slots);
    this.fill();
    const edges = this.joinEdges();
    this.edgeSrc = Int32Array.from(edges.src);
    this.edgeUser = Int32Array.from(edges.user);
    this.usersFirst = new Int32Array(this.slots + 1);
    for (const s of this.edgeSrc) this.usersFirst[s + 1]!++;
    for (let s = 0; s < this.slots; s++) this.usersFirst[s + 1]! += this.usersFirst[s]!;
    this.usersEdge = new Int32Array(this.edgeSrc.length);
    const at = this.usersFirst.slice();
    for (let e = 0; e < this.edgeSrc.length; e++) this.usersEdge[at[this.edgeSrc[e]!]!++] = e;
    known.set(bundle, this);
  }

  /** The version that slot s has in state k. */
  versionAt(s: number, k: number): number {
    let lo = this.first[s]!;
    let hi = this.first[s + 1]! - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.step[mid]! <= k) lo = mid;
      else hi = mid - 1;
    }
    return lo;
  }

  private check(): void {
    const { bundle, slots } = this;
    const contents = bundle.nodes.id.length;
    const slotOk = (s: number, where: string): void => {
      if (!(Number.isInteger(s) && s >= 0 && s < slots))
        throw new BundleError(`slot ${s} does not exist, there are ${slots}`, where);
    };
    const nodeOk = (c: number, where: string): void => {
      if (!(Number.isInteger(c) && c >= 0 && c < contents))
        throw new BundleError(`node ${c} does not exist, there are ${contents}`, where);
    };
    const { initial } = bundle;
    if (initial.slot.length !== initial.node.length || initial.slot.length !== initial.src.length)
      throw new BundleError("the lists of the input graph differ in length", "step 0");
    for (let i = 0; i < initial.slot.length; i++) {
      slotOk(initial.slot[i]!, "step 0");
      nodeOk(initial.node[i]!, "step 0");
      for (const s of initial.src[i]!) slotOk(s, "step 0");
    }
    for (let k = 0; k < bundle.steps.length; k++) {
      const where = `step ${k + 1}`;
      const step = bundle.steps[k]!;
      for (const [s, c, src] of step.set) {
        slotOk(s, where);
        nodeOk(c, where);
        for (const t of src) slotOk(t, where);
      }
      for (const list of [step.drop, step.removed, step.added, step.moved])
        for (const s of list) slotOk(s, where);
      slotOk(step.slot, where);
      slotOk(step.result, where);
    }
  }

  /** One version per slot for state 0, one more per slot and step that touches it. */
  private countVersions(): { first: Int32Array; madeFirst: Int32Array; total: number } {
    const first = new Int32Array(this.slots + 1);
    const madeFirst = new Int32Array(this.steps + 2);
    const last = new Int32Array(this.slots).fill(-1);
    for (let s = 0; s < this.slots; s++) first[s + 1] = 1;
    this.bundle.steps.forEach((step, k) => {
      const touch = (s: number): void => {
        if (last[s] === k) return;
        last[s] = k;
        first[s + 1]!++;
        madeFirst[k + 2]!++;
      };
      for (const [s] of step.set) touch(s);
      step.drop.forEach(touch);
    });
    for (let s = 0; s < this.slots; s++) first[s + 1]! += first[s]!;
    for (let k = 0; k <= this.steps; k++) madeFirst[k + 1]! += madeFirst[k]!;
    return { first, madeFirst, total: first[this.slots]! };
  }

  private fill(): void {
    const { bundle, first, slot, step, node, src, made } = this;
    for (let v = 0; v < slot.length; v++) src.push(NONE);
    const at = first.slice(0, this.slots);
    for (let s = 0; s < this.slots; s++) slot[first[s]!] = s;
    const { initial } = bundle;
    for (let i = 0; i < initial.slot.length; i++) {
      const v = first[initial.slot[i]!]!;
      node[v] = initial.node[i]!;
      src[v] = initial.src[i]!;
    }
    let next = 0;
    bundle.steps.forEach((delta, k) => {
      const put = (s: number, c: number, sources: readonly number[]): void => {
        let v = at[s]!;
        if (step[v] !== k + 1) {
          v = ++at[s]!;
          slot[v] = s;
          step[v] = k + 1;
          made[next++] = v;
        }
        node[v] = c;
        src[v] = sources;
      };
      for (const [s, c, sources] of delta.set) put(s, c, sources);
      for (const s of delta.drop) put(s, -1, NONE);
    });
  }

  /** Gives every (source, user, occurrence) one edge, shared by all versions of the user. */
  private joinEdges(): { src: number[]; user: number[] } {
    const edgeSrc: number[] = [];
    const edgeUser: number[] = [];
    const same: number[] = []; // per edge: the next edge between the same two slots, -1 none
    const used: number[] = []; // per edge: the last version that has it
    const head = new Int32Array(this.slots);
    const owner = new Int32Array(this.slots).fill(-1); // head[s] is valid for this user
    for (let u = 0; u < this.slots; u++) {
      for (let v = this.first[u]!; v < this.first[u + 1]!; v++) {
        const sources = this.src[v]!;
        const edges = new Int32Array(sources.length);
        sources.forEach((s, i) => {
          let e = owner[s] === u ? head[s]! : -1;
          while (e >= 0 && used[e] === v) e = same[e]!;
          if (e < 0) {
            e = edgeSrc.length;
            edgeSrc.push(s);
            edgeUser.push(u);
            same.push(owner[s] === u ? head[s]! : -1);
            used.push(-1);
            head[s] = e;
            owner[s] = u;
          }
          used[e] = v;
          edges[i] = e;
        });
        this.edge.push(edges);
      }
    }
    return { src: edgeSrc, user: edgeUser };
  }
}
