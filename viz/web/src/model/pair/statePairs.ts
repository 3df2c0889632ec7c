/**
 * The pairs of states that a reader walks through: pair k is what the panes show as before | after.
 *
 * Of one rewrite they are its steps (`stepPairs`); of two runs, the rows of their alignment
 * (rows.ts). Pictures and pages know nothing else of where they are. Pure.
 */
import { stepDiff, type StepDiff } from "../diff";
import { AROUND } from "../fold/neighbourhood";
import type { Replay } from "../replay";
import type { Timeline } from "../timeline";

/** The first and the last of some states or pairs. */
export type Stretch = readonly [first: number, last: number];

export interface StatePairs {
  readonly timeline: Timeline;
  /** Pairs are 0..last. */
  readonly last: number;
  /** Whether two nodes that no pair shows together may get one place in a picture of all pairs. */
  readonly sharePlaces: boolean;
  /** Changed nodes that a pair shows at most (neighbourhood.ts). */
  readonly changed: number;
  /** The states that pair k shows. */
  before(k: number): number;
  after(k: number): number;
  /** Says what pair k changes, for two replays that are always these and stand at its states. */
  differ(before: Replay, after: Replay): (k: number) => StepDiff;
  /** The states that the pairs first..last show, as stretches in ascending order. */
  states(first: number, last: number): readonly Stretch[];
  /** The first and the last pair that show any of these states, which lie in one of the stretches of
   * all pairs; null: none does. */
  showing(states: Stretch): Stretch | null;
}

/** Every step of a rewrite: the states before and after it. Pair 0 is the input graph alone. */
export function stepPairs(timeline: Timeline): StatePairs {
  const last = timeline.steps;
  return {
    timeline,
    last,
    sharePlaces: true,
    changed: AROUND.changed,
    before: (k) => Math.max(0, k - 1),
    after: (k) => k,
    differ: (before, after) => () => stepDiff(before, after),
    states: (first, to) => [[Math.max(0, first - 1), to]],
    showing: ([from, to]) => [from, Math.min(to + 1, last)],
  };
}
