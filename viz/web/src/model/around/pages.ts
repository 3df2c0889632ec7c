/**
 * The places of "around the change": pages of consecutive steps, in a chain without a jump. A step is
 * any pair of states that is shown as before and after (statePairs.ts).
 *
 * One layout of all steps would put a change's own nodes thousands of pixels apart: tried on 24,000
 * nodes, a step showed one of its 33 nodes at a readable zoom. One layout per step is tight, but
 * moves what survives at every step. So a few steps share a layout, a page, and the next page pins
 * what both its first step and the last one of the page before draw: only the rest is placed. Its
 * rows are chosen with the steps in mind that come after it, so that there is room for what will
 * be put in between. What still cannot keep its place without making an edge point up is folded
 * into a group at that step. So nothing that two neighbouring steps draw ever moves.
 *
 * Pages are made where the reader goes, forwards and backwards. A jump, as from match to match of a
 * rule, starts a chain of its own around what the steps on both sides of the jump draw; what cannot
 * keep its place there without making an edge point up is the only thing that moves.
 * Going back shows the same pages again, as far as the chain is kept. A rewrite that is small as a
 * whole is one page.
 */
import { allSlots, Drawn, headsOf, layoutInputOf, pairsInputOf } from "./around";
import type { Fold } from "../fold/fold";
import { type Folding, unfolded } from "../fold/folding";
import { layoutGraph, type LayoutInput } from "../layout/graph";
import { type Layout, layout } from "../layered";
import { type Pin, Pinned } from "../layout/pins";
import type { NeighbourhoodOptions } from "../fold/neighbourhood";
import type { StatePairs } from "../pair/statePairs";

/** A rewrite with no more slots is one page. */
const WHOLE = 260;
/** Slots of a page, unless a single step needs more. */
const PAGE = 100;
/** Steps of a page: what each of them draws is worked out when the page is made. */
const PAGE_STEPS = 64;
/** Pages of a chain; the farthest one is forgotten for each that is more. */
const CHAIN = 400;
/** The rows of a page leave room for the next steps: for at most so many, with so many slots. */
const STEPS_AHEAD = 16;
const AHEAD = 260;

/** The steps first..last, what is laid out for them, and where. */
export interface Page {
  first: number;
  last: number;
  /** Ascending. */
  slots: Int32Array;
  layout: Layout;
  /** What is drawn as one box in all of these steps. */
  fold: Fold | null;
  /** Pages of one world have their places in the same coordinates. */
  world: object;
}

/** x in px and row, in the coordinates of a world. */
export interface Place {
  x: number;
  row: number;
}

/** Where a page has the slot; undefined if it has no place for it. */
export function placeIn({ slots, layout: l }: Page, slot: number): Place | undefined {
  let lo = 0;
  let hi = slots.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (slots[mid]! < slot) lo = mid + 1;
    else hi = mid;
  }
  if (slots[lo] !== slot) return undefined;
  return { x: l.x[lo]! + l.left, row: l.row[lo]! + l.top };
}

type Places = ReadonlyMap<number, Place>;

/** Where those of the slots are that the page has. */
function placesOf(slots: Iterable<number>, page: Page): Places {
  const places = new Map<number, Place>();
  for (const s of slots) {
    const place = placeIn(page, s);
    if (place) places.set(s, place);
  }
  return places;
}

/** A page that is to be laid out: its steps, what they draw, and what keeps its place. */
interface Plan {
  first: number;
  last: number;
  /** Ascending. */
  slots: Int32Array;
  fold: Fold | null;
  input: LayoutInput;
  rows: Pinned;
  /** NaN where a slot may have any. */
  x: Float64Array;
}

/** Forwards or backwards through the steps. */
type Way = 1 | -1;

export class Pages {
  /** What each step draws. */
  readonly drawn: Drawn;
  /** The step that was asked for last. */
  private shown: { k: number; page: Page } | null = null;
  /** Pages side by side, by step. */
  private chain: Page[] = [];
  /** The whole rewrite if it is small: then there is one page. */
  readonly whole: Page | null;

  constructor(
    private readonly pairs: StatePairs,
    options: NeighbourhoodOptions,
    folding: Folding = unfolded(pairs.timeline),
    private readonly most = CHAIN,
  ) {
    this.drawn = new Drawn(pairs, options, folding);
    const all = allSlots(pairs.timeline);
    if (all.length > WHOLE) this.whole = null;
    else {
      const { last } = pairs;
      const fold = folding.around(0, last);
      const slots = headsOf(all, fold);
      const laid = layout(layoutInputOf(pairs, slots, fold));
      this.whole = { first: 0, last, slots, layout: laid, fold, world: {} };
    }
  }

  /** The page that holds step k: of the chain, next to it, or the first of a new one. */
  of(k: number): Page {
    const page = this.find(k);
    this.shown = { k, page };
    return page;
  }

  private find(k: number): Page {
    const { chain } = this;
    const first = chain[0];
    const last = chain.at(-1);
    if (!first || !last || k < first.first - 1 || k > last.last + 1) return this.jump(k);
    if (k > last.last) chain.push(this.next(last, 1));
    else if (k < first.first) chain.unshift(this.next(first, -1));
    if (chain.length > this.most) {
      const far = k > last.last ? chain.shift()! : chain.pop()!;
      this.drawn.unfold(far.first, far.last);
    }
    return this.pageWith(k);
  }

  /** The page of the chain that holds step k. */
  private pageWith(k: number): Page {
    const { chain } = this;
    let lo = 0;
    let hi = chain.length - 1;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (chain[mid]!.last < k) lo = mid + 1;
      else hi = mid;
    }
    return chain[lo]!;
  }

  /** Starts a chain at a step far away: what it draws of the step shown last stays where it is. */
  private jump(k: number): Page {
    const { shown } = this;
    if (this.whole || !shown) return this.start(k);
    const before = this.drawn.at(shown.k);
    const pins = placesOf(before, shown.page);
    return this.begin(k, pins, shown.page.world);
  }

  /** Starts a chain at step k: a new world, or that of a page, whose places stay if they can. */
  start(k: number, from?: Page): Page {
    if (this.whole) return (this.chain = [this.whole])[0]!;
    const page = this.begin(k, from ? placesOf(from.slots, from) : new Map(), from?.world ?? {});
    this.shown = { k, page };
    return page;
  }

  /** The first page of a chain. Of the places those are kept that step k draws and that its edges
   * allow; the world is another one where there is none. */
  private begin(k: number, places: Places, world: object): Page {
    this.drawn.unfold();
    const { last, slots } = this.grow(k, 1);
    const pins = new Map<number, Place>();
    for (const s of this.drawn.at(k)) {
      const place = places.get(s);
      if (place) pins.set(s, place);
    }
    let plan = this.pin(k, last, slots, pins);
    // The edges of later steps are no reason to move what is seen at this one.
    if (plan.rows.loose.length) plan = this.pin(k, k, this.drawn.at(k), pins);
    const page = this.lay(plan, [1, -1], pins.size ? world : {});
    this.chain = [page];
    return page;
  }

  /** The page after (1) or before (-1) one of the ends of the chain. */
  private next(page: Page, way: Way): Page {
    const from = way > 0 ? page.last : page.first;
    const k = from + way;
    const folded = new Set<number>();
    for (;;) {
      const { last, slots } = this.grow(k, way);
      // The step that the reader looks at may be another one of that page.
      const seen = this.shown?.page === page ? this.drawn.at(this.shown.k) : [];
      const before = new Set([...this.drawn.at(from), ...seen]);
      const stay = [...this.drawn.at(k)].filter((s) => before.has(s) && !folded.has(s));
      const [low, high] = way > 0 ? [k, last] : [last, k];
      const pinned = this.pin(low, high, slots, placesOf(stay, page));
      const { loose } = pinned.rows;
      if (!loose.length) return this.lay(pinned, [way], page.world);
      for (const p of loose) folded.add(pinned.slots[p.node]!);
      this.drawn.fold(k, new Set(folded));
    }
  }

  /** The steps of a page that begins at step k and goes on one way, and what they draw. */
  private grow(k: number, way: Way): { last: number; slots: Set<number> } {
    let slots = new Set(this.drawn.at(k));
    let last = k;
    for (let steps = 1; steps < PAGE_STEPS; steps++) {
      const next = last + way;
      if (next < 0 || next > this.pairs.last) break;
      if (this.drawn.boxes(next) !== this.drawn.boxes(k)) break;
      const joined = new Set([...slots, ...this.drawn.at(next)]);
      if (joined.size > PAGE) break;
      slots = joined;
      last = next;
    }
    return { last, slots };
  }

  /** Decides which pins the steps first..last can keep; the most important ones come first. */
  private pin(first: number, last: number, drawn: ReadonlySet<number>, pins: Places): Plan {
    const slots = Int32Array.from(drawn).sort();
    const fold = this.drawn.boxes(first);
    const input = pairsInputOf(this.pairs, slots, first, last, fold);
    const place = new Map<number, number>();
    slots.forEach((s, i) => place.set(s, i));
    const rowPins = [...pins].map(([s, { row }]): Pin => ({ node: place.get(s)!, row }));
    const rows = new Pinned(layoutGraph(input), rowPins);
    const x = new Float64Array(slots.length).fill(NaN);
    for (const [s, p] of pins) if (rows.fixed[place.get(s)!]) x[place.get(s)!] = p.x;
    return { first, last, slots, fold, input, rows, x };
  }

  /** Lays out a page around its pins. */
  private lay(plan: Plan, ways: readonly Way[], world: object): Page {
    const { first, last, slots, fold, input, rows, x } = plan;
    const row = this.roomyRows(plan, ways);
    const held = { row: rows.near((v) => row[v]!), x };
    return { first, last, slots, layout: layout({ ...input, held }), fold, world };
  }

  /** Rows that leave room for the steps around a page; of the page's slots, in their order. */
  private roomyRows({ first, last, slots, fold, rows }: Plan, ways: readonly Way[]): Int32Array {
    const { pairs } = this;
    let [from, to] = [first, last];
    const all = new Set(slots);
    for (const way of ways) {
      const most = all.size + AHEAD / ways.length;
      let k = way > 0 ? last : first;
      for (let i = 0; i < STEPS_AHEAD / ways.length && all.size < most; i++) {
        k += way;
        if (k < 0 || k > pairs.last || this.drawn.boxes(k) !== fold) break;
        for (const s of this.drawn.at(k)) all.add(s);
        [from, to] = [Math.min(from, k), Math.max(to, k)];
      }
    }
    const input = pairsInputOf(pairs, Int32Array.from(all), from, to, fold);
    return new Pinned(layoutGraph(input), rows.kept).rows();
  }
}
