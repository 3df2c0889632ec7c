/**
 * Which slots the picture of "around change" holds: pages of consecutive steps.
 *
 * Laying out all steps' neighbourhoods together never moves a node, but in a large program it
 * puts a change's own nodes thousands of pixels apart: tried on 24,000 nodes, a step showed one
 * of its 33 nodes at a readable zoom. A layout per step is tight, but moves the survivors at every
 * step. So consecutive steps share a page as long as their neighbourhoods together stay small:
 * within a page nothing moves; a page turns where the change goes elsewhere, and the eye has to
 * go with it anyway. A rewrite that is small as a whole is one page and never moves at all.
 * A page costs the neighbourhoods of the steps since the last multiple of `CHUNK`, so any step is
 * reached at once.
 */
import { stepDiff } from "./diff";
import type { LayoutInput } from "./layout/graph";
import { AROUND, type NeighbourhoodOptions, placesOf } from "./neighbourhood";
import { Replay } from "./replay";
import type { Timeline } from "./timeline";

/** A rewrite with no more slots is one page. */
const WHOLE = 260;
/** Slots of a page, unless a single step needs more. */
const PAGE = 140;
/** Pages start anew every so many steps, whatever came before. */
const CHUNK = 64;

/** The steps first..last, and what is laid out for them. */
export interface Page {
  first: number;
  last: number;
  /** Ascending. */
  slots: Int32Array;
}

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

export class Pages {
  /** The whole rewrite if it is small: then there is one page. */
  private readonly whole: Page | null;
  /** Per chunk: its pages so far, and how to go on. */
  private readonly chunks = new Map<number, { pages: Page[]; rest: Generator<Page> }>();
  private readonly before: Replay;
  private readonly after: Replay;

  constructor(private readonly timeline: Timeline) {
    this.before = new Replay(timeline.bundle, timeline);
    this.after = new Replay(timeline.bundle, timeline);
    const all = allSlots(timeline);
    this.whole = all.length <= WHOLE ? { first: 0, last: timeline.steps, slots: all } : null;
  }

  /** The page that holds step k. */
  of(k: number): Page {
    if (this.whole) return this.whole;
    const c = Math.floor(k / CHUNK);
    let chunk = this.chunks.get(c);
    if (!chunk) this.chunks.set(c, (chunk = { pages: [], rest: this.cut(c * CHUNK) }));
    const { pages, rest } = chunk;
    for (;;) {
      const found = pages.find((p) => k <= p.last);
      if (found) return found;
      const next = rest.next();
      if (next.done) return pages.at(-1)!; // k is beyond the last step
      pages.push(next.value);
    }
  }

  /** What step k needs a place for: its neighbourhood, and a place for each folded group. */
  slotsOf(k: number, options: NeighbourhoodOptions = AROUND): Set<number> {
    this.before.goto(k - 1);
    this.after.goto(k);
    return placesOf(this.before, this.after, stepDiff(this.before, this.after), options);
  }

  private *cut(start: number): Generator<Page> {
    const end = Math.min(start + CHUNK - 1, this.timeline.steps);
    let first = start;
    let slots = this.slotsOf(start);
    const page = (last: number): Page => ({ first, last, slots: Int32Array.from(slots).sort() });
    for (let k = start + 1; k <= end; k++) {
      const more = this.slotsOf(k);
      const joined = new Set([...slots, ...more]);
      if (joined.size <= PAGE) {
        slots = joined;
        continue;
      }
      yield page(k - 1);
      first = k;
      slots = more;
    }
    yield page(end);
  }
}

/** The edges between some slots over all steps, and when each slot is seen, for the layout. */
export function layoutInputOf(t: Timeline, slots: Int32Array): LayoutInput {
  const place = new Int32Array(t.slots).fill(-1);
  slots.forEach((s, i) => (place[s] = i));
  const src: number[] = [];
  const user: number[] = [];
  slots.forEach((s, i) => {
    for (let j = t.usersFirst[s]!; j < t.usersFirst[s + 1]!; j++) {
      const u = place[t.edgeUser[t.usersEdge[j]!]!]!;
      if (u < 0) continue;
      src.push(i);
      user.push(u);
    }
  });
  return {
    n: slots.length,
    src: Int32Array.from(src),
    user: Int32Array.from(user),
    life: {
      from: slots.map((s) => seen(t, s)[0]),
      to: slots.map((s) => seen(t, s)[1]),
    },
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
