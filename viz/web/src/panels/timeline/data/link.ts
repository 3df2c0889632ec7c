/** What the timeline shows, as its part of a link. */
import { go } from "../../../state/actions";
import { LinkPart } from "../../../state/link/part";
import { times } from "../../../state/link/query";

interface TimelineLink {
  /** The stretch that is shown, in microseconds; null: all. */
  time: readonly [number, number] | null;
  /** "e12": context or pass 12, "l3.7": launch 7 of track 3, "n:name": all of that name, "m4.9": what
   * memory track 4 holds after its change 9, "peak": where it holds most. */
  pick: string | null;
  /** Microseconds. */
  marks: readonly number[];
}

const PICK = /^(?:e\d{1,12}|l\d{1,6}\.\d{1,9}|n:[^\n]{1,200}|m\d{1,6}\.\d{1,9}|peak)$/;
const MOST_MARKS = 20;

export const timelineLink = new LinkPart<TimelineLink>({
  first: { time: null, pick: null, marks: [] },
  read(q) {
    const [from, to] = q.times("t");
    return {
      time: from !== undefined && to !== undefined && from < to ? [from, to] : null,
      pick: q.matching("i", PICK),
      marks: q.times("mk").slice(0, MOST_MARKS),
    };
  },
  write({ time, pick, marks }, put) {
    put("t", time && times(time));
    put("i", pick);
    put("mk", times(marks));
  },
  isJump: (a, b) => a.pick !== b.pick && a.pick !== null,
});

/** Changes what the timeline shows. */
export function goTimeline(change: Partial<TimelineLink>, history?: "replace"): void {
  go({}, history, timelineLink.with(change));
}
