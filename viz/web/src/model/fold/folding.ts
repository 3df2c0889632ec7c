/**
 * The reader's choice of what is folded, applied to a pass: for all of it, or for a stretch of its
 * steps, where nothing that these steps change is folded.
 *
 * Never changes; another choice is another object.
 */
import type { Timeline } from "../timeline";
import { type Fold, foldOf } from "./fold";
import { type Structure, structureNow } from "./structure";

export interface FoldChoice {
  index: boolean;
  blocks: boolean;
  /** Ends of the boxes that the reader opened. */
  opened: ReadonlySet<number>;
}

/** A pass of fewer slots is shown as it is. */
const SMALL = 60;

export class Folding {
  private everything: Fold | null | undefined;

  constructor(
    private readonly timeline: Timeline,
    private readonly choice: FoldChoice,
  ) {}

  /** For all steps. */
  all(): Fold | null {
    if (this.everything === undefined) this.everything = this.fold([]);
    return this.everything;
  }

  /** For the steps first..last. */
  around(first: number, last: number): Fold | null {
    const shown: number[] = [];
    for (const step of this.timeline.bundle.steps.slice(Math.max(0, first - 1), last))
      shown.push(step.slot, step.result, ...step.removed, ...step.added, ...step.moved);
    return this.fold(shown);
  }

  private fold(shown: readonly number[]): Fold | null {
    const of = this.structure();
    const { error } = this.timeline.bundle;
    // Where a pass failed is what one came for.
    const failed = [error?.slot ?? -1, ...(error?.loop ?? []).map((l) => l.slot)];
    return of && foldOf(of, { ...this.choice, shown: [...shown, ...failed.filter((s) => s >= 0)] });
  }

  private structure(): Structure | null {
    const { index, blocks } = this.choice;
    const off = !index && !blocks;
    return off || this.timeline.slots < SMALL ? null : structureNow(this.timeline);
  }
}

/** Nothing is ever folded. */
export const unfolded = (t: Timeline): Folding =>
  new Folding(t, { index: false, blocks: false, opened: new Set() });
