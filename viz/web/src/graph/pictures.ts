/**
 * The pictures of one bundle: one per scope, each made when it is first asked for.
 *
 * Both hold the union of all steps (of everything, or of what is around the changes), so nothing
 * moves while the reader steps. Small rewrites have one picture for both scopes.
 */
import { allSlots, layoutInputOf, slotsAround } from "../model/around";
import type { Layout } from "../model/layout/layered";
import type { Timeline } from "../model/timeline";
import type { Layouter } from "./layouter";
import { Picture } from "./picture";
import { inSlices } from "./slices";

export type Scope = "change" | "all";

/** Row distance: airy where all rows then fit the height of the pane, tighter otherwise. */
const TIGHTEST = 50;
const WIDEST = 74;
const USUAL = 62;
/** Largest zoom at which a picture is fitted, and room above and below it, px. */
const FIT = 1.08;
const ROOM = 66;

export interface Viewport {
  width: number;
  height: number;
}

export class Pictures {
  private all: Picture | null = null;
  private change: Picture | null = null;
  /** Time spent on the last layout, worker included, ms. */
  layoutMs = 0;

  constructor(
    readonly timeline: Timeline,
    private readonly layouter: Layouter,
  ) {}

  /** @throws Cancelled if `signal` is aborted first */
  async get(
    scope: Scope,
    opened: ReadonlySet<number>,
    view: Viewport,
    signal: AbortSignal,
    progress: (text: string, share: number) => void,
  ): Promise<Picture> {
    const { timeline } = this;
    if (scope === "all") {
      this.all ??= await this.make(allSlots(timeline), view, signal, progress);
      return this.all;
    }
    const misses = (p: Picture): boolean => [...opened].some((s) => !p.has(s));
    if (this.change && !misses(this.change)) return this.change;
    const slots = await inSlices(slotsAround(timeline, opened), signal, (share) =>
      progress("Collecting what is around the changes", share * 0.3),
    );
    if (slots.length === allSlots(timeline).length) {
      this.change = await this.get("all", opened, view, signal, progress);
    } else this.change = await this.make(slots, view, signal, progress);
    return this.change;
  }

  private async make(
    slots: Int32Array,
    view: Viewport,
    signal: AbortSignal,
    progress: (text: string, share: number) => void,
  ): Promise<Picture> {
    const started = performance.now();
    const words = `Laying out ${slots.length.toLocaleString("en")} nodes`;
    const layout = await this.layouter.run(layoutInputOf(this.timeline, slots), signal, (share) =>
      progress(words, 0.3 + share * 0.7),
    );
    this.layoutMs = performance.now() - started;
    return new Picture(this.timeline, slots, layout, pitchFor(layout, view));
  }
}

function pitchFor(layout: Layout, view: Viewport): number {
  const zoom = Math.min(FIT, (view.width - 32) / (layout.width + 132));
  const pitch = (view.height / zoom - ROOM) / Math.max(1, layout.rows - 1);
  if (pitch < TIGHTEST * 0.6) return USUAL;
  return Math.round(Math.max(TIGHTEST, Math.min(WIDEST, pitch)));
}
