/**
 * What the picture around a change has to hold: the slots that each step draws.
 *
 * Also all slots of a rewrite, and what the layout has to know of some slots. Never lays out.
 */
import { type Fold, membersAt } from "../fold/fold";
import { type Folding, unfolded } from "../fold/folding";
import type { LayoutInput } from "../layout/graph";
import { portOffset } from "../layout/route";
import { type NeighbourhoodOptions, placesOf } from "../fold/neighbourhood";
import type { StepDiff } from "../diff";
import { Replay } from "../replay";
import type { StatePairs, Stretch } from "../pair/statePairs";
import type { Timeline } from "../timeline";

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

/** The slots that each pair of states draws, a step for short: its neighbourhood, and one for each folded group. */
export class Drawn {
  private readonly before: Replay;
  private readonly after: Replay;
  private readonly known = new Map<number, ReadonlySet<number>>();
  /** Per step: what is folded there because it cannot keep its place. */
  private readonly without = new Map<number, ReadonlySet<number>>();
  private readonly folds = new Map<number, Fold | null>();

  private readonly diff: (k: number) => StepDiff;

  constructor(
    private readonly pairs: StatePairs,
    private readonly options: NeighbourhoodOptions,
    private readonly folding: Folding = unfolded(pairs.timeline),
  ) {
    const { timeline } = pairs;
    this.before = new Replay(timeline.bundle, timeline);
    this.after = new Replay(timeline.bundle, timeline);
    this.diff = pairs.differ(this.before, this.after);
  }

  /** The slots that step k draws, those of the change first. */
  at(k: number): ReadonlySet<number> {
    const known = this.known.get(k);
    if (known) return known;
    const { before, after, pairs } = this;
    before.goto(pairs.before(k));
    after.goto(pairs.after(k));
    const options = { ...this.options, without: this.folded(k), fold: this.boxes(k) };
    const slots = placesOf(before, after, this.diff(k), options);
    if (this.known.size >= KEPT) this.known.delete(this.known.keys().next().value!);
    this.known.set(k, slots);
    return slots;
  }

  /** The boxes of step k: the same for a stretch of steps, and of nothing that these change. */
  boxes(k: number): Fold | null {
    const stretch = Math.floor(k / STRETCH);
    let fold = this.folds.get(stretch);
    if (fold === undefined) {
      const last = Math.min(this.pairs.last, (stretch + 1) * STRETCH - 1);
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

/** The edges between what is drawn over all pairs of states, and when it is seen, for the layout. */
export function layoutInputOf(
  pairs: StatePairs,
  slots: Int32Array,
  fold: Fold | null = null,
): LayoutInput {
  // Which port an edge enters is known of each version alone: worth it where single edges count.
  if (slots.length <= PORTS) return pairsInputOf(pairs, slots, 0, pairs.last, fold);
  const t = pairs.timeline;
  const place = new Int32Array(t.slots).fill(-1);
  for (const [s, i] of placesIn(slots, fold)) place[s] = i;
  const edges: Drawing[] = [];
  slots.forEach((head, i) => {
    for (const s of membersAt(fold, head))
      for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
        const user = t.edgeUser[t.usersEdge[j]!]!;
        if (place[user]! >= 0 && isDrawn(fold, s, user)) edges.push([i, place[user]!, 0, 0, pairs.last]);
      }
  });
  return inputOf(pairs, slots, fold, edges);
}

/** The same with no other edges than those of the states that the pairs first..last show. */
export function pairsInputOf(
  pairs: StatePairs,
  slots: Int32Array,
  first: number,
  last: number,
  fold: Fold | null = null,
): LayoutInput {
  const t = pairs.timeline;
  const shown = pairs.states(first, last);
  const place = placesIn(slots, fold);
  const edges: Drawing[] = [];
  slots.forEach((head, i) => {
    for (const s of membersAt(fold, head)) {
      const end = t.first[s + 1]!;
      const boxed = fold !== null && fold.of[s]! >= 0;
      const known = new Map<number, Drawing>();
      for (const [low, high] of shown)
        for (let v = t.versionAt(s, low); v < end && t.step[v]! <= high; v++) {
          const sources = t.src[v]!;
          if (!sources.length) continue;
          const seen = pairs.showing(statesOf(t, v, low, high));
          if (!seen) continue;
          sources.forEach((source, k) => {
            const at = place.get(source);
            if (at === undefined || !isDrawn(fold, source, s)) return;
            const before = known.get(at);
            if (before) {
              before[3] = Math.min(before[3], seen[0]);
              before[4] = Math.max(before[4], seen[1]);
              return;
            }
            const port = boxed ? 0 : Math.round(portOffset(k, sources.length));
            const edge: Drawing = [at, i, port, ...seen];
            known.set(at, edge);
            edges.push(edge);
          });
        }
    }
  });
  return inputOf(pairs, slots, fold, edges);
}

/** The states low..high in which its slot has version v. */
function statesOf(t: Timeline, v: number, low: number, high: number): Stretch {
  const end = t.first[t.slot[v]! + 1]!;
  const until = v + 1 < end ? t.step[v + 1]! - 1 : t.steps;
  return [Math.max(t.step[v]!, low), Math.min(until, high)];
}

function inputOf(
  pairs: StatePairs,
  slots: Int32Array,
  fold: Fold | null,
  edges: readonly Drawing[],
): LayoutInput {
  return {
    n: slots.length,
    src: Int32Array.from(edges, (e) => e[0]),
    user: Int32Array.from(edges, (e) => e[1]),
    port: Int32Array.from(edges, (e) => e[2]),
    seen: { from: Int32Array.from(edges, (e) => e[3]), to: Int32Array.from(edges, (e) => e[4]) },
    life: pairs.sharePlaces ? lives(pairs, slots, fold) : undefined,
  };
}

/** When what is drawn for each of the slots is seen. */
function lives(pairs: StatePairs, slots: Int32Array, fold: Fold | null): LayoutInput["life"] {
  const life = Array.from(slots, (s) => seen(pairs, membersAt(fold, s)));
  return {
    from: Int32Array.from(life, (l) => l[0]),
    to: Int32Array.from(life, (l) => l[1]),
  };
}

/** First and last pair that shows any of the slots: a step shows what it takes away, too. */
function seen(pairs: StatePairs, slots: readonly number[]): [number, number] {
  const t = pairs.timeline;
  let from = pairs.last;
  let to = 0;
  for (const slot of slots)
    for (const [low, high] of pairs.states(0, pairs.last)) {
      // From both ends: a slot may have as many versions as there are steps.
      let first = t.versionAt(slot, low);
      let last = t.versionAt(slot, high);
      while (first <= last && t.node[first]! < 0) first++;
      if (first > last) continue;
      while (t.node[last]! < 0) last--;
      const begin = statesOf(t, first, low, high)[0];
      const end = statesOf(t, last, low, high)[1];
      const shown = pairs.showing([begin, end]);
      if (!shown) continue;
      from = Math.min(from, shown[0]);
      to = Math.max(to, shown[1]);
    }
  return [from, to];
}
