/**
 * The boxes of a loaded pass: what is folded by the reader's choice, and what was opened by hand.
 *
 * Tells the pictures what to fold; never draws.
 */
import type { Box } from "../model/fold/fold";
import { Folding } from "../model/fold/folding";
import { structureNow, structureOf } from "../model/fold/structure";
import { describeBox } from "../model/fold/words";
import type { Timeline } from "../model/timeline";
import type { FoldKinds } from "./api";
import type { Pictures } from "./picture/pictures";
import type { Content } from "./picture/scene";
import { Cancelled, inSlices } from "./picture/slices";

/** Boxes within boxes that "open all" opens. */
const DEEPEST = 20;

/** Looks for boxes in large passes, in slices; one search at a time. */
export class BoxSearch {
  private running: AbortController | null = null;

  constructor(private readonly busy: (text: string | null, share: number) => void) {}

  /** Looks for boxes, so that they are known afterwards. False if that was cancelled. */
  async look(timeline: Timeline, kinds: FoldKinds): Promise<boolean> {
    this.cancel();
    if (!kinds.index && !kinds.blocks) return true;
    const mine = (this.running = new AbortController());
    const words = `Looking for repeated blocks in ${timeline.slots.toLocaleString("en")} nodes`;
    try {
      await inSlices(structureOf(timeline), mine.signal, (share) => this.busy(words, share));
      return true;
    } catch (error) {
      if (error instanceof Cancelled) return false;
      throw error;
    } finally {
      if (this.running === mine) {
        this.running = null;
        this.busy(null, 1);
      }
    }
  }

  /** Ends the search; false if there was none. */
  cancel(): boolean {
    const { running } = this;
    running?.abort();
    return running !== null;
  }
}

export class Boxes {
  /** Where the boxes that were opened end. */
  readonly opened: Set<number>;

  constructor(
    private readonly pictures: Pictures,
    private kinds: FoldKinds,
    opened: Iterable<number> = [],
  ) {
    this.opened = new Set(opened);
    this.apply();
  }

  choose(kinds: FoldKinds): void {
    this.kinds = kinds;
    this.apply();
  }

  openAll(): void {
    // What opens may hold boxes in turn.
    for (let left = DEEPEST; left > 0 && this.pictures.boxes().length; left--) {
      for (const box of this.pictures.boxes()) for (const end of box.ends) this.opened.add(end);
      this.apply();
    }
  }

  closeAll(): void {
    this.opened.clear();
    this.apply();
  }

  /** Opens the box that the slot is in, or folds the one again that it was in. */
  toggle(content: Content, slot: number): boolean {
    const box = boxOf(content, slot);
    const ends = box?.ends ?? this.openedAt(content, slot);
    for (const end of ends ?? [])
      if (box) this.opened.add(end);
      else this.opened.delete(end);
    if (ends) this.apply();
    return ends !== null;
  }

  /** The box that the slot is folded into, in words; or that it is in one that was opened. */
  at(content: Content, slot: number): { words: string; open: boolean } | null {
    const words = this.words(content, slot);
    if (words) return { words, open: false };
    return this.openedAt(content, slot) && { words: "", open: true };
  }

  /** "" for a slot that is drawn by itself. */
  words(content: Content, slot: number): string {
    const { before, after, diff, picture } = content;
    const box = boxOf(content, slot);
    return picture.fold && box ? describeBox(before, after, diff, picture.fold, box) : "";
  }

  /** The ends of the opened box that the slot is a part of: it, or what it is used by alone. */
  private openedAt(content: Content, slot: number): readonly number[] | null {
    const { fold, timeline } = content.picture;
    if (!fold?.opened.size) return null;
    const { exit } = structureNow(timeline).union;
    for (let s = slot; s >= 0; s = exit[s]!) {
      const ends = fold.opened.get(s);
      if (ends) return ends;
    }
    return null;
  }

  private apply(): void {
    const { timeline } = this.pictures;
    const opened = new Set(this.opened);
    this.pictures.fold(new Folding(timeline, { ...this.kinds, opened }));
  }
}

function boxOf(content: Content, slot: number): Box | null {
  const { fold } = content.picture;
  return fold?.boxes[fold.of[slot]!] ?? null;
}
