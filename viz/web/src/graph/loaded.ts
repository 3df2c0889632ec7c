/**
 * One loaded bundle: its states, its pictures, and what of it is shown at a step.
 *
 * Laying out everything is work that may be announced, waited for and cancelled. Never draws and
 * never moves a camera.
 */
import type { Bundle } from "../data/messages/bundle";
import { stepDiff } from "../model/diff";
import { AROUND, type Group, neighbourhood } from "../model/neighbourhood";
import { Replay } from "../model/replay";
import { timelineOf } from "../model/timeline";
import type { FoldKinds, Scope } from "./api";
import { Boxes } from "./boxes";
import { Labels } from "./picture/labels";
import type { Layouter } from "./picture/layouter";
import type { Picture } from "./picture/picture";
import { Pictures, type Viewport } from "./picture/pictures";
import type { Content } from "./picture/scene";
import { Cancelled } from "./picture/slices";

/** Work that takes longer is announced, again and again, ms. */
const ANNOUNCE = 50;
/** Nodes far from the change that are shown because they were selected. */
const BROUGHT = 4;
/** Heads of a group that open at once. */
const OPEN_AT_ONCE = 12;

/** Hears of long work: a sentence and the share done; null when it is over. */
export type Busy = (text: string | null, progress: number) => void;

export class Loaded {
  private readonly before: Replay;
  private readonly after: Replay;
  private readonly labels: Labels;
  private readonly pictures: Pictures;
  private readonly opened = new Set<number>();
  /** Nodes selected far from the change, the latest last. */
  private brought: readonly number[] = [];
  private everything: Picture | null = null;
  readonly boxes: Boxes;

  /** `boxes`: ends of boxes that are opened from the start. */
  constructor(
    readonly bundle: Bundle,
    layouter: Layouter,
    kinds: FoldKinds,
    boxes?: Iterable<number>,
  ) {
    const timeline = timelineOf(bundle);
    this.before = new Replay(bundle, timeline);
    this.after = new Replay(bundle, timeline);
    this.labels = new Labels(bundle);
    this.pictures = new Pictures(timeline, layouter);
    this.boxes = new Boxes(this.pictures, kinds, boxes);
  }

  /** Time of the last layout, ms. */
  get layoutMs(): number {
    return this.pictures.layoutMs;
  }

  /** Step k of that scope; null while its picture has to be laid out first. */
  content(k: number, scope: Scope, foldConstants: boolean, view: Viewport): Content | null {
    const { before, after, labels, opened } = this;
    const around = scope === "change";
    if (!around && !this.everything) return null;
    after.goto(k);
    before.goto(Math.max(0, after.step - 1));
    const diff = stepDiff(before, after);
    const wishes = { opened, foldConstants, brought: new Set(this.brought) };
    const picture = around
      ? this.pictures.around(after.step, wishes, view)
      : this.everything!;
    const { fold } = picture;
    const options = { ...AROUND, ...wishes, without: this.pictures.folded(after.step), fold };
    const part = around ? neighbourhood(before, after, diff, options) : null;
    return { picture, labels, before, after, diff, part };
  }

  /** Shows a node although it is far from the change; a few of them stay. */
  bring(slot: number): void {
    this.brought = [...this.brought.filter((s) => s !== slot), slot].slice(-BROUGHT);
  }

  /** Shows the first nodes of a folded group; the rest folds behind them. */
  open(group: Group): void {
    for (const s of group.heads.slice(0, OPEN_AT_ONCE)) this.opened.add(s);
  }

  /** Lays out everything, for the scope "all". False: something newer is wanted by now. */
  async layOutAll(view: Viewport, signal: AbortSignal, busy: Busy): Promise<boolean> {
    let share = 0;
    let text = "Laying out the graph";
    let announcements = 0;
    const timer = setInterval(() => {
      announcements++;
      busy(text, share);
    }, ANNOUNCE);
    try {
      const picture = await this.pictures.all(view, signal, (t, s) => {
        text = t;
        share = s;
      });
      if (signal.aborted) return false;
      this.everything = picture;
      return true;
    } catch (error) {
      if (error instanceof Cancelled) return false;
      throw error;
    } finally {
      clearInterval(timer);
      if (announcements) busy(null, 1);
    }
  }
}
