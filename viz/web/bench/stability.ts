/**
 * Prints what it costs that nothing moves: crossings of single steps in the layout of all steps.
 *
 *     npx tsx bench/stability.ts bundle.json...
 *
 * For the first, a middle and the last state of a bundle: crossings per edge as they are drawn (the
 * one layout of all steps, cut down to the state) over those of a fresh layout of that state alone.
 * Then, for the view around the change: how many steps turn the page, how many nodes drawn before
 * and after a step moved, how many had to be folded instead, and the crossings of turned pages over
 * those of a fresh layout of the same slots. One line of JSON per file; judges nothing.
 */
import { readFileSync } from "node:fs";
import type { Bundle } from "../src/data/messages/bundle";
import { allSlots, layoutInputOf, pairsInputOf } from "../src/model/around/around";
import type { LayoutInput } from "../src/model/layout/graph";
import { type Layout, layout } from "../src/model/layered";
import { quality } from "./quality";
import { AROUND } from "../src/model/fold/neighbourhood";
import { Pages, placeIn } from "../src/model/around/pages";
import { stepPairs } from "../src/model/pair/statePairs";
import { Replay } from "../src/model/replay";
import { timelineOf } from "../src/model/timeline";

/** Steps looked at for page turns. */
const LOOKED_AT = 400;

for (const file of process.argv.slice(2)) {
  const bundle = JSON.parse(readFileSync(file, "utf8")) as Bundle;
  const timeline = timelineOf(bundle);
  const slots = allSlots(timeline);
  const union = layout(layoutInputOf(stepPairs(timeline), slots));
  const place = new Int32Array(timeline.slots).fill(-1);
  slots.forEach((slot, i) => (place[slot] = i));
  const replay = new Replay(bundle, timeline);
  const states = [0, timeline.steps >> 1, timeline.steps].map((k) => {
    replay.goto(k);
    const present = Int32Array.from(replay.slots());
    const input = inputOf(replay, present);
    const kept = quality(input, part(union, present, place)).crossings;
    const fresh = quality(input, layout(input)).crossings;
    return { step: k, kept, fresh, ratio: fresh ? kept / fresh : 1 };
  });
  console.log(JSON.stringify({ file, slots: timeline.slots, states, ...turning(bundle) }));
}

/** The graph of one state. */
function inputOf(replay: Replay, present: Int32Array): LayoutInput {
  const at = new Int32Array(replay.timeline.slots).fill(-1);
  present.forEach((slot, i) => (at[slot] = i));
  const src: number[] = [];
  const user: number[] = [];
  present.forEach((slot, i) => {
    for (const s of replay.srcOf(slot)) {
      src.push(at[s]!);
      user.push(i);
    }
  });
  return { n: present.length, src: Int32Array.from(src), user: Int32Array.from(user) };
}

/** The places of some slots in a layout of more. */
function part(l: Layout, present: Int32Array, place: Int32Array): Layout {
  const at = Array.from(present, (slot) => place[slot]!);
  return {
    ...l,
    x: Float64Array.from(at, (i) => l.x[i]!),
    row: Int32Array.from(at, (i) => l.row[i]!),
    rail: Float64Array.from(at, (i) => l.rail[i]!),
    hub: Uint8Array.from(at, (i) => l.hub[i]!),
  };
}

/** What stepping through the steps looked at does to the picture around the change. */
function turning(bundle: Bundle): Record<string, number> {
  const timeline = timelineOf(bundle);
  const pages = new Pages(stepPairs(timeline), AROUND);
  const looked = Math.min(LOOKED_AT, timeline.steps);
  let [turns, survivors, moved, folded, kept, fresh] = [0, 0, 0, 0, 0, 0];
  for (let k = 1; k <= looked; k++) {
    const was = pages.of(k - 1);
    const drawn = pages.drawn.at(k - 1);
    const now = pages.of(k);
    const page = was === now;
    for (const slot of pages.drawn.at(k)) {
      if (!drawn.has(slot) || pages.drawn.folded(k).has(slot)) continue;
      survivors++;
      const [a, b] = [placeIn(was, slot)!, placeIn(now, slot)!];
      if (a.x !== b.x || a.row !== b.row) moved++;
    }
    if (page) continue;
    turns++;
    folded += pages.drawn.folded(k).size;
    const input = pairsInputOf(stepPairs(timeline), now.slots, now.first, now.last);
    kept += quality(input, now.layout).crossings;
    fresh += quality(input, layout(input)).crossings;
  }
  return { looked, turns, survivors, moved, folded, turned: fresh ? kept / fresh : 1 };
}
