/**
 * What the picture around a change has to hold: the slots that each step draws.
 *
 * Also all slots of a rewrite, and what the layout has to know of some slots. Never lays out.
 */
import { stepDiff } from "./diff";
import type { LayoutInput } from "./layout/graph";
import { type NeighbourhoodOptions, placesOf } from "./neighbourhood";
import { Replay } from "./replay";
import type { Timeline } from "./timeline";

/** Steps remembered; the layout of a page looks some steps ahead, which come next. */
const KEPT = 400;

/** All slots that ever hold a node, ascending. */
export function allSlots(t: Timeline): Int32Array {
  const found: number[] = [];
  for (let s = 0; s < t.slots; s++)
    for (let v = t.first[s]!; v < t.first[s + 1]!; v++)
      if (t.node[v]! >= 0) {
        found.push(s);
        break;
      }
  return Int32Array.from(found);
}

/** The slots that each step draws: its neighbourhood, and one for each folded group. */
export class Drawn {
  private readonly before: Replay;
  private readonly after: Replay;
  private readonly known = new Map<number, ReadonlySet<number>>();
  /** Per step: what is folded there because it cannot keep its place. */
  private readonly without = new Map<number, ReadonlySet<number>>();

  constructor(
    timeline: Timeline,
    private readonly options: NeighbourhoodOptions,
  ) {
    this.before = new Replay(timeline.bundle, timeline);
    this.after = new Replay(timeline.bundle, timeline);
  }

  /** The slots that step k draws, those of the change first. */
  at(k: number): ReadonlySet<number> {
    const known = this.known.get(k);
    if (known) return known;
    const { before, after } = this;
    before.goto(k - 1);
    after.goto(k);
    const options = { ...this.options, without: this.folded(k) };
    const slots = placesOf(before, after, stepDiff(before, after), options);
    if (this.known.size >= KEPT) this.known.delete(this.known.keys().next().value!);
    this.known.set(k, slots);
    return slots;
  }

  /** Has step k fold these slots. */
  fold(k: number, slots: ReadonlySet<number>): void {
    this.without.set(k, slots);
    this.known.delete(k);
  }

  /** Forgets what was folded: places are given anew. */
  unfold(): void {
    for (const k of this.without.keys()) this.known.delete(k);
    this.without.clear();
  }

  /** What step k folds for that reason. */
  folded(k: number): ReadonlySet<number> {
    return this.without.get(k) ?? this.options.without;
  }
}

/** The edges between some slots over all steps, and when each slot is seen, for the layout. */
export function layoutInputOf(t: Timeline, slots: Int32Array): LayoutInput {
  const place = new Int32Array(t.slots).fill(-1);
  slots.forEach((s, i) => (place[s] = i));
  const edges: [number, number][] = [];
  slots.forEach((s, i) => {
    for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
      const u = place[t.edgeUser[t.usersEdge[j]!]!]!;
      if (u >= 0) edges.push([i, u]);
    }
  });
  return inputOf(t, slots, edges);
}

/** The same with no other edges than those of the steps first..last and of the state before. */
export function stepsInputOf(
  t: Timeline,
  slots: Int32Array,
  first: number,
  last: number,
): LayoutInput {
  const place = new Map<number, number>();
  slots.forEach((s, i) => place.set(s, i));
  const edges: [number, number][] = [];
  slots.forEach((s, i) => {
    const end = t.first[s + 1]!;
    for (let v = t.versionAt(s, Math.max(0, first - 1)); v < end && t.step[v]! <= last; v++)
      for (const source of t.src[v]!) {
        const at = place.get(source);
        if (at !== undefined) edges.push([at, i]);
      }
  });
  return inputOf(t, slots, edges);
}

function inputOf(t: Timeline, slots: Int32Array, edges: [number, number][]): LayoutInput {
  const life = Array.from(slots, (s) => seen(t, s));
  return {
    n: slots.length,
    src: Int32Array.from(edges, (e) => e[0]),
    user: Int32Array.from(edges, (e) => e[1]),
    life: { from: Int32Array.from(life, (l) => l[0]), to: Int32Array.from(life, (l) => l[1]) },
  };
}

/** First and last step that shows the slot: a step shows what it takes away, too. */
function seen(t: Timeline, slot: number): [number, number] {
  let from = t.steps;
  let to = 0;
  const end = t.first[slot + 1]!;
  for (let v = t.first[slot]!; v < end; v++) {
    if (t.node[v]! < 0) continue;
    from = Math.min(from, t.step[v]!);
    to = Math.max(to, v + 1 < end ? t.step[v + 1]! : t.steps);
  }
  return [from, to];
}
