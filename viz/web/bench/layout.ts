/**
 * Prints time and quality of the layout of real graphs.
 *
 *     npx tsx bench/layout.ts graphs/*.json.gz
 *
 * A graph is gzipped JSON: `op` per node and `edges` as [source, user] pairs. "cold" is the first
 * layout in a fresh process (run one file per process for the true figure), "warm" the best of
 * the following ones. Never fails on time.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";
import { layout } from "../src/model/layered";
import { quality } from "./quality";

const WARM_RUNS = 4;

for (const file of process.argv.slice(2)) {
  const graph = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    op: string[];
    edges: [number, number][];
  };
  const input = {
    n: graph.op.length,
    src: Int32Array.from(graph.edges, (e) => e[0]),
    user: Int32Array.from(graph.edges, (e) => e[1]),
  };
  const started = performance.now();
  const result = layout(input);
  const cold = performance.now() - started;
  let warm = Infinity;
  for (let i = 0; i < WARM_RUNS; i++) {
    const t = performance.now();
    layout(input);
    warm = Math.min(warm, performance.now() - t);
  }
  const q = quality(input, result);
  console.log(
    [
      basename(file, ".json.gz").padEnd(14),
      `cold ${cold.toFixed(0)} ms`.padEnd(13),
      `warm ${warm.toFixed(0)} ms`.padEnd(13),
      `C ${q.crossings.toFixed(2)}`.padEnd(9),
      `box hits ${q.boxHits.toFixed(2)}`.padEnd(15),
      `area ${q.area.toFixed(1)}`.padEnd(12),
      `rows ${result.rows}`.padEnd(11),
      `lines ${q.edges} of ${graph.edges.length}, overlaps ${q.overlaps}, upward ${q.upward}`,
    ].join("  "),
  );
}
