/**
 * One loaded bundle and the pairs of its states that are shown: their its pictures, and what of it is shown at a step.
 *
 * Laying out everything is work that may be announced, waited for and cancelled. Never draws and
 * never moves a camera.
 */
import type { Bundle } from "../data/messages/bundle";
import type { StepDiff } from "../model/diff";
import { type Group, neighbourhood } from "../model/fold/neighbourhood";
import { Replay } from "../model/replay";
import type { StatePairs } from "../model/pair/statePairs";
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
/** Parts of a pattern that are shown, however far they are. */
const KEPT = 16;
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
  private kept: readonly number[] = [];
  private everything: Picture | null = null;
  readonly bundle: Bundle;
  readonly boxes: Boxes;
  private readonly diff: (k: number) => StepDiff;

  /** `boxes`: ends of boxes that are opened from the start. */
  constructor(
    readonly pairs: StatePairs,
    layouter: Layouter,
    kinds: FoldKinds,
    boxes?: Iterable<number>,
  ) {
    const { timeline } = pairs;
    const { bundle } = timeline;
    this.bundle = bundle;
    this.before = new Replay(bundle, timeline);
    this.after = new Replay(bundle, timeline);
    this.diff = pairs.differ(this.before, this.after);
    this.labels = new Labels(bundle);
    this.pictures = new Pictures(pairs, layouter);
    this.boxes = new Boxes(this.pictures, kinds, boxes);
  }

  /** Pair k of that scope; null while its picture has to be laid out first. */
  content(k: number, scope: Scope, foldConstants: boolean, view: Viewport): Content | null {
    const { before, after, labels, opened } = this;
    const around = scope === "change";
    if (!around && !this.everything) return null;
    after.goto(this.pairs.after(k));
    before.goto(this.pairs.before(k));
    const diff = this.diff(k);
    const wishes = { opened, foldConstants, brought: new Set([...this.brought, ...this.kept]) };
    const picture = around
      ? this.pictures.around(k, wishes, view)
      : this.everything!;
    const { fold } = picture;
    const options = { ...this.pictures.options(wishes), without: this.pictures.folded(k), fold };
    const part = around ? neighbourhood(before, after, diff, options) : null;
    return { picture, labels, before, after, diff, part };
  }

  /** Shows a node although it is far from the change; a few of them stay. */
  bring(slot: number): void {
    this.brought = [...this.brought.filter((s) => s !== slot), slot].slice(-BROUGHT);
  }

  /** Shows these nodes as long as they are marked, however far they are from the change. */
  keep(slots: readonly number[]): void {
    this.kept = slots.slice(0, KEPT);
  }

  /** Shows the first nodes of a folded group; the rest folds behind them. */
  open(group: Group): void {
    for (const s of group.heads.slice(0, OPEN_AT_ONCE)) this.opened.add(s);
  }

  /** Lays out everything, for the scope "all". False: something newer is wanted. */
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
