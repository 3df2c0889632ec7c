/**
 * The pictures of one bundle: one of everything, and one per page of steps around their changes.
 *
 * Pages are small and laid out at once; everything is laid out in the worker when it is first
 * asked for. Nothing that two neighbouring steps draw moves: what they share lies in one picture,
 * or at the same place in two pictures of one world.
 */
import { allSlots, headsOf, layoutInputOf } from "../../model/around/around";
import type { Box } from "../../model/fold/fold";
import { type Folding, unfolded } from "../../model/fold/folding";
import { BOX_W, type Layout } from "../../model/layered";
import { AROUND, type NeighbourhoodOptions } from "../../model/fold/neighbourhood";
import { type Page, Pages } from "../../model/around/pages";
import type { StatePairs } from "../../model/pair/statePairs";
import type { Timeline } from "../../model/timeline";
import type { Layouter } from "./layouter";
import { MARGIN, MAX_FIT, WHOLE } from "../view/camera";
import { Picture } from "./picture";

export type Scope = "change" | "all";

/** Row distance: as airy as the height allows where all can be shown at once, else as usual. */
const TIGHTEST = 50;
const WIDEST = 74;
const USUAL = 54;
/** Room above and below a picture that is fitted, px. */
const ROOM = 66;
/** Pages kept; going back and forth between two is the usual case. */
const KEPT = 6;

export interface Viewport {
  width: number;
  height: number;
}

/** What the reader can change about the neighbourhood of a change. */
export type Wishes = Pick<NeighbourhoodOptions, "opened" | "brought" | "foldConstants">;

export class Pictures {
  private everything: Picture | null = null;
  /** Made when they are first asked for; `wishes` says with what the reader opened. */
  private pages: Pages | null = null;
  private wishes = "";
  private folding: Folding;
  /** The page shown last. */
  private page: Page | null = null;
  /** Distance of its rows, and of those of the other pages of its world. */
  private pitch = USUAL;
  private readonly kept = new Map<Page, Picture>();

  readonly timeline: Timeline;

  constructor(
    private readonly pairs: StatePairs,
    private readonly layouter: Layouter,
  ) {
    this.timeline = pairs.timeline;
    this.folding = unfolded(pairs.timeline);
  }

  /** From now on other boxes are folded: every picture is another. */
  fold(folding: Folding): void {
    this.folding = folding;
    this.pages = null;
    this.everything = null;
  }

  /** What is folded over all steps. */
  boxes(): readonly Box[] {
    return this.folding.all()?.boxes ?? [];
  }

  /** The picture for step k around its change, with a place for what the reader opened. */
  around(k: number, wishes: Wishes, view: Viewport): Picture {
    const page = this.pageOf(k, wishes);
    if (page.world !== this.page?.world) this.pitch = pitchOf(page.layout, view);
    this.page = page;
    let picture = this.kept.get(page);
    if (!picture) {
      const { slots, layout: l, fold, world } = page;
      picture = new Picture(this.timeline, slots, l, this.pitch, world, fold);
    }
    this.kept.delete(page);
    this.kept.set(page, picture);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(old);
    }
    return picture;
  }

  /** What step k folds around its change because it could not keep its place. */
  folded(k: number): ReadonlySet<number> {
    return this.pages?.drawn.folded(k) ?? AROUND.without;
  }

  /**
   * The picture of everything.
   *
   * @throws Cancelled if `signal` is aborted first
   */
  async all(
    view: Viewport,
    signal: AbortSignal,
    progress: (text: string, share: number) => void,
  ): Promise<Picture> {
    if (this.everything) return this.everything;
    const fold = this.folding.all();
    const slots = headsOf(allSlots(this.timeline), fold);
    if (!fold && (this.pages ?? this.pagesFor(AROUND)).whole)
      return (this.everything = this.around(0, AROUND, view));
    const words = `Laying out ${slots.length.toLocaleString("en")} nodes`;
    const input = layoutInputOf(this.pairs, slots, fold);
    const result = await this.layouter.run(input, signal, (share) => progress(words, share));
    const pitch = pitchOf(result, view);
    return (this.everything = new Picture(this.timeline, slots, result, pitch, {}, fold));
  }

  /** The page of step k; what is drawn stays where it is while the reader opens more of it. */
  private pageOf(k: number, wishes: Wishes): Page {
    const { page, pages: before } = this;
    const pages = this.pagesFor(wishes);
    const here = page && page.first <= k && k <= page.last;
    return pages !== before && here ? pages.start(k, page) : pages.of(k);
  }

  /** What a neighbourhood takes in. */
  options(wishes: Wishes): NeighbourhoodOptions {
    return { ...AROUND, changed: this.pairs.changed, ...wishes };
  }

  private pagesFor(wishes: Wishes): Pages {
    const words = `${wishes.foldConstants} ${[...wishes.opened].join(" ")} ${[...wishes.brought].join(" ")}`;
    if (this.pages && (words === this.wishes || this.pages.whole)) return this.pages;
    this.wishes = words;
    return (this.pages = new Pages(this.pairs, this.options(wishes), this.folding));
  }
}

function pitchOf(l: Layout, view: Viewport): number {
  const zoom = Math.min(MAX_FIT, (view.width - 2 * MARGIN) / (l.width + BOX_W));
  if (zoom < WHOLE) return USUAL;
  const pitch = (view.height / zoom - ROOM) / Math.max(1, l.rows - 1);
  return Math.round(Math.max(TIGHTEST, Math.min(WIDEST, pitch)));
}
