/**
 * The pictures of one bundle: one of everything, and one per page of steps around their changes.
 *
 * Pages are small and laid out at once; everything is laid out in the worker when it is first
 * asked for. Both hold the union of all their steps, so nothing moves while the reader steps.
 */
import { allSlots, layoutInputOf, type Page, Pages } from "../model/around";
import { type Layout, layout } from "../model/layout/layered";
import { AROUND } from "../model/neighbourhood";
import type { Timeline } from "../model/timeline";
import type { Layouter } from "./layouter";
import { readable } from "./camera";
import { Picture } from "./picture";

export type Scope = "change" | "all";

/** Row distance: as airy as the height allows where all can be shown at once, else as usual. */
const TIGHTEST = 50;
const WIDEST = 74;
const USUAL = 54;
/** Largest zoom at which a picture is fitted, and room above and below it, px. */
const FIT = 1.08;
const ROOM = 66;
/** Pages kept; going back and forth between two is the usual case. */
const KEPT = 6;

export interface Viewport {
  width: number;
  height: number;
}

export class Pictures {
  private everything: Picture | null = null;
  private readonly pages: Pages;
  private readonly kept = new Map<string, Picture>();
  /** Time spent on the last layout, worker included, ms. */
  layoutMs = 0;

  constructor(
    readonly timeline: Timeline,
    private readonly layouter: Layouter,
  ) {
    this.pages = new Pages(timeline);
  }

  /** The picture for step k around its change, with a place for what the reader opened. */
  around(k: number, opened: ReadonlySet<number>, view: Viewport): Picture {
    const page = this.pages.of(k);
    const key = `${page.first} ${[...opened].join(" ")}`;
    let picture = this.kept.get(key);
    if (!picture) {
      const started = performance.now();
      const slots = opened.size ? this.extended(page, k, opened) : page.slots;
      if (opened.size && slots.length === page.slots.length) return this.around(k, new Set(), view);
      picture = this.picture(slots, layout(layoutInputOf(this.timeline, slots)), view);
      this.layoutMs = performance.now() - started;
    }
    this.kept.delete(key);
    this.kept.set(key, picture);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(old);
    }
    return picture;
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
    const slots = allSlots(this.timeline);
    const page = this.pages.of(0);
    if (slots.length === page.slots.length)
      return (this.everything = this.around(0, new Set(), view));
    const started = performance.now();
    const words = `Laying out ${slots.length.toLocaleString("en")} nodes`;
    const input = layoutInputOf(this.timeline, slots);
    const result = await this.layouter.run(input, signal, (share) => progress(words, share));
    this.layoutMs = performance.now() - started;
    return (this.everything = this.picture(slots, result, view));
  }

  private extended(page: Page, k: number, opened: ReadonlySet<number>): Int32Array {
    const wanted = new Set(page.slots);
    for (const s of this.pages.slotsOf(k, { ...AROUND, opened })) wanted.add(s);
    return Int32Array.from(wanted).sort();
  }

  private picture(slots: Int32Array, l: Layout, view: Viewport): Picture {
    const zoom = Math.min(FIT, (view.width - 32) / (l.width + 132));
    const whole = zoom >= readable(view.width);
    const pitch = (view.height / zoom - ROOM) / Math.max(1, l.rows - 1);
    return new Picture(
      this.timeline,
      slots,
      l,
      whole ? Math.round(Math.max(TIGHTEST, Math.min(WIDEST, pitch))) : USUAL,
    );
  }
}
