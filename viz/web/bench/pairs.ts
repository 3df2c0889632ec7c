/**
 * Prints what it costs that nothing moves while two passes are walked through in step.
 *
 *     npx tsx bench/pairs.ts pair.json...
 *
 * A file holds `a` and `b`, two bundles, and their alignment. For up to LOOKED_AT rows from the first
 * that differs: how many turn the page, how many nodes drawn before and after a row moved, how many
 * had to be folded instead; for every tenth, the crossings of what it draws over those of a fresh
 * layout of the same; and the time of a row in the model, ms. One line of JSON per file; judges
 * nothing.
 */
import { readFileSync } from "node:fs";
import type { Bundle } from "../src/data/messages/bundle";
import type { PassAlignment } from "../src/data/messages/compare";
import { pairsInputOf } from "../src/model/around/around";
import { type Layout, layout } from "../src/model/layered";
import { quality } from "./quality";
import { AROUND } from "../src/model/fold/neighbourhood";
import { type Page, Pages, placeIn } from "../src/model/around/pages";
import { joint } from "../src/model/pair/joint";
import { alignedPairs, nextDifference, pairedUp, rowsOf } from "../src/model/pair/rows";

const LOOKED_AT = 400;
const EVERY = 10;

for (const file of process.argv.slice(2)) {
  const given = JSON.parse(readFileSync(file, "utf8")) as PassAlignment & { a: Bundle; b: Bundle };
  const started = performance.now();
  const both = joint(given.a, given.b, given.slots);
  const rows = rowsOf(pairedUp(given, both), both.stepsA, both.stepsB);
  const pairs = alignedPairs(both, rows);
  const opened = performance.now() - started;
  const pages = new Pages(pairs, { ...AROUND, changed: pairs.changed });
  const from = Math.max(1, nextDifference(rows, 0, 1) ?? 1);
  const to = Math.min(rows.count, from + LOOKED_AT);
  let [turns, survivors, moved, folded, kept, fresh] = [0, 0, 0, 0, 0, 0];
  const times: number[] = [];
  let was = pages.of(from - 1);
  for (let r = from; r <= to; r++) {
    const before = pages.drawn.at(r - 1);
    const begun = performance.now();
    const now = pages.of(r);
    times.push(performance.now() - begun);
    if (now !== was) {
      turns++;
      folded += pages.drawn.folded(r).size;
    }
    for (const s of pages.drawn.at(r)) {
      if (!before.has(s) || pages.drawn.folded(r).has(s)) continue;
      const [x, y] = [placeIn(was, s), placeIn(now, s)];
      if (!x || !y) continue;
      survivors++;
      if (x.x !== y.x || x.row !== y.row) moved++;
    }
    was = now;
    if (r % EVERY) continue;
    const slots = Int32Array.from([...pages.drawn.at(r)].filter((s) => placeIn(now, s))).sort();
    const input = pairsInputOf(pairs, slots, r, r);
    kept += quality(input, placed(slots, now)).crossings;
    fresh += quality(input, layout(input)).crossings;
  }
  times.sort((x, y) => x - y);
  const ratio = fresh ? kept / fresh : 1;
  const step = { median: times[times.length >> 1], slowest: times.at(-1) };
  const walked = { looked: to - from + 1, turns, survivors, moved, folded, ratio, step, opened };
  console.log(JSON.stringify({ file, rows: rows.count, slots: both.bundle.slots, ...walked }));
}

/** Some slots of a page, as a layout of their own. */
function placed(slots: Int32Array, page: Page): Layout {
  const place = new Map([...page.slots].map((s, i) => [s, i]));
  const at = Array.from(slots, (s) => place.get(s)!);
  const l = page.layout;
  return {
    ...l,
    x: Float64Array.from(at, (i) => l.x[i]!),
    row: Int32Array.from(at, (i) => l.row[i]!),
    rail: Float64Array.from(at, (i) => l.rail[i]!),
    hub: Uint8Array.from(at, (i) => l.hub[i]!),
  };
}
