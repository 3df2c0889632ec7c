/**
 * What the picture around a change has to hold: the slots that each step draws.
 *
 * Also all slots of a rewrite, and what the layout has to know of some slots. Never lays out.
 */
import { stepDiff } from "./diff";
import { type Fold, membersAt } from "./fold/fold";
import { type Folding, unfolded } from "./fold/folding";
import type { LayoutInput } from "./layout/graph";
import { portOffset } from "./layout/route";
import { type NeighbourhoodOptions, placesOf } from "./neighbourhood";
import { Replay } from "./replay";
import type { Timeline } from "./timeline";

/** So many steps fold alike, unless the rewrite is small. */
const STRETCH = 64;
/** Ports are looked up for a picture of no more slots. */
const PORTS = 300;
/** Steps remembered; the layout of a page looks some steps ahead, which come next. */
const KEPT = 400;
/** Stretches whose boxes are remembered: they are as large as the graph. */
const KEPT_FOLDS = 8;

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

/** The slots that are drawn by themselves, and the head of each box. */
export function headsOf(slots: Int32Array, fold: Fold | null): Int32Array {
  return fold ? slots.filter((s) => fold.head[s] === s) : slots;
}

/** Is an edge between the slots drawn: not inside one box, nor from a constant into a box? */
export function isDrawn(fold: Fold | null, source: number, user: number): boolean {
  if (!fold || fold.of[user]! < 0) return true;
  return fold.head[source] !== fold.head[user] && !fold.constant[source];
}

/** Place of every slot among those drawn; slots of one box share one. */
export function placesIn(slots: Int32Array, fold: Fold | null): Map<number, number> {
  const place = new Map<number, number>();
  slots.forEach((s, i) => {
    for (const m of membersAt(fold, s)) place.set(m, i);
  });
  return place;
}

/** The slots that each step draws: its neighbourhood, and one for each folded group. */
export class Drawn {
  private readonly before: Replay;
  private readonly after: Replay;
  private readonly known = new Map<number, ReadonlySet<number>>();
  /** Per step: what is folded there because it cannot keep its place. */
  private readonly without = new Map<number, ReadonlySet<number>>();
  private readonly folds = new Map<number, Fold | null>();

  constructor(
    private readonly timeline: Timeline,
    private readonly options: NeighbourhoodOptions,
    private readonly folding: Folding = unfolded(timeline),
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
    const options = { ...this.options, without: this.folded(k), fold: this.boxes(k) };
    const slots = placesOf(before, after, stepDiff(before, after), options);
    if (this.known.size >= KEPT) this.known.delete(this.known.keys().next().value!);
    this.known.set(k, slots);
    return slots;
  }

  /** The boxes of step k: the same for a stretch of steps, and of nothing that these change. */
  boxes(k: number): Fold | null {
    const stretch = Math.floor(k / STRETCH);
    let fold = this.folds.get(stretch);
    if (fold === undefined) {
      const last = Math.min(this.timeline.steps, (stretch + 1) * STRETCH - 1);
      fold = this.folding.around(stretch * STRETCH, last);
    }
    // The last one used stands last.
    this.folds.delete(stretch);
    this.folds.set(stretch, fold);
    if (this.folds.size > KEPT_FOLDS) this.folds.delete(this.folds.keys().next().value!);
    return fold;
  }

  /** Has step k fold these slots. */
  fold(k: number, slots: ReadonlySet<number>): void {
    this.without.set(k, slots);
    this.known.delete(k);
  }

  /** Forgets what the steps first..last folded: places are given anew. */
  unfold(first = 0, last = Infinity): void {
    for (const k of this.without.keys()) {
      if (k < first || k > last) continue;
      this.known.delete(k);
      this.without.delete(k);
    }
  }

  /** What step k folds for that reason. */
  folded(k: number): ReadonlySet<number> {
    return this.without.get(k) ?? this.options.without;
  }
}

/** An edge of the layout: places of its ends, its port in px, the first and last step that shows it. */
type Drawing = [source: number, user: number, port: number, from: number, to: number];

/** The edges between what is drawn over all steps, and when it is seen, for the layout. */
export function layoutInputOf(
  t: Timeline,
  slots: Int32Array,
  fold: Fold | null = null,
): LayoutInput {
  // Which port an edge enters is known of each version alone: worth it where single edges count.
  if (slots.length <= PORTS) return stepsInputOf(t, slots, 0, t.steps, fold);
  const place = new Int32Array(t.slots).fill(-1);
  for (const [s, i] of placesIn(slots, fold)) place[s] = i;
  const edges: Drawing[] = [];
  slots.forEach((head, i) => {
    for (const s of membersAt(fold, head))
      for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
        const user = t.edgeUser[t.usersEdge[j]!]!;
        if (place[user]! >= 0 && isDrawn(fold, s, user)) edges.push([i, place[user]!, 0, 0, t.steps]);
      }
  });
  return inputOf(t, slots, fold, edges);
}

/** The same with no other edges than those of the steps first..last and of the state before. */
export function stepsInputOf(
  t: Timeline,
  slots: Int32Array,
  first: number,
  last: number,
  fold: Fold | null = null,
): LayoutInput {
  const place = placesIn(slots, fold);
  const edges: Drawing[] = [];
  slots.forEach((head, i) => {
    for (const s of membersAt(fold, head)) {
      const end = t.first[s + 1]!;
      const boxed = fold !== null && fold.of[s]! >= 0;
      const known = new Map<number, Drawing>();
      for (let v = t.versionAt(s, Math.max(0, first - 1)); v < end && t.step[v]! <= last; v++) {
        const sources = t.src[v]!;
        const to = v + 1 < end ? t.step[v + 1]! : t.steps;
        sources.forEach((source, k) => {
          const at = place.get(source);
          if (at === undefined || !isDrawn(fold, source, s)) return;
          const before = known.get(at);
          if (before) {
            before[4] = to;
            return;
          }
          const port = boxed ? 0 : Math.round(portOffset(k, sources.length));
          const edge: Drawing = [at, i, port, t.step[v]!, to];
          known.set(at, edge);
          edges.push(edge);
        });
      }
    }
  });
  return inputOf(t, slots, fold, edges);
}

function inputOf(
  t: Timeline,
  slots: Int32Array,
  fold: Fold | null,
  edges: readonly Drawing[],
): LayoutInput {
  const life = Array.from(slots, (s) => seen(t, membersAt(fold, s)));
  return {
    n: slots.length,
    src: Int32Array.from(edges, (e) => e[0]),
    user: Int32Array.from(edges, (e) => e[1]),
    port: Int32Array.from(edges, (e) => e[2]),
    seen: { from: Int32Array.from(edges, (e) => e[3]), to: Int32Array.from(edges, (e) => e[4]) },
    life: { from: Int32Array.from(life, (l) => l[0]), to: Int32Array.from(life, (l) => l[1]) },
  };
}

/** First and last step that shows any of the slots: a step shows what it takes away, too. */
function seen(t: Timeline, slots: readonly number[]): [number, number] {
  let from = t.steps;
  let to = 0;
  for (const slot of slots) {
    const end = t.first[slot + 1]!;
    // From both ends: a slot may have as many versions as there are steps.
    let first = t.first[slot]!;
    while (first < end && t.node[first]! < 0) first++;
    if (first === end) continue;
    let last = end - 1;
    while (t.node[last]! < 0) last--;
    from = Math.min(from, t.step[first]!);
    to = Math.max(to, last + 1 < end ? t.step[last + 1]! : t.steps);
  }
  return [from, to];
}
