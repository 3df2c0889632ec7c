/** One bar for the whole run: scheduling, compiling, running and the rest, with memory below it. */
import { useMemo, useState } from "preact/hooks";
import type { Part } from "../../../data/messages/overview";
import { Go } from "../../../parts/Go";
import { atPeak, pageAt, timeAt } from "../../../state/link/links";
import { percent } from "../../../parts/speed";
import { followLink } from "../../../state/actions";
import { bytes, micros } from "../../../state/format";
import { binAt, LAYERS, layerPath, memoryPath, sharesIn, stretchOf } from "./course";
import { overview } from "../data/store";

const NAMES: Readonly<Record<Part, string>> = {
  schedule: "schedule",
  compile: "compile",
  run: "run",
  rest: "other",
};
const WHAT: Readonly<Record<Part, string>> = {
  schedule: "Turning tensor graphs into kernels",
  compile: "Compiling kernels, pass by pass",
  run: "Running kernels",
  rest: "The program itself: imports, Python, loading of compiled kernels",
};
const HUE: Readonly<Record<Part, string>> = {
  schedule: "schedule",
  compile: "kernel",
  run: "launch",
  rest: "rest",
};

export function Course() {
  const a = overview.value?.activity;
  const [bin, setBin] = useState<number | null>(null);
  const layers = useMemo(
    () => (a ? LAYERS.map((kind) => [kind, layerPath(a.strip, kind)] as const) : []),
    [a],
  );
  const memory = useMemo(() => (a ? memoryPath(a.memory, a.peak) : ""), [a]);
  if (!a?.parts.some((p) => p.kind !== "rest" && p.us > 0)) return null; // it has no times
  const bins = a.strip.run.length;
  const place = (e: MouseEvent): number => {
    const box = (e.currentTarget as Element).getBoundingClientRect();
    return binAt(a, (e.clientX - box.left) / Math.max(1, box.width));
  };
  const order: readonly Part[] = ["schedule", "compile", "run", "rest"];
  const parts = order.flatMap((kind) => a.parts.find((p) => p.kind === kind && p.us > 0) ?? []);
  return (
    <section class="ov-course" data-region="Course of the run" aria-label="Course of the run">
      <div
        class="ov-strips"
        aria-hidden="true"
        onPointerMove={(e) => setBin(place(e))}
        onPointerLeave={() => setBin(null)}
        onClick={(e) => followLink(timeAt(stretchOf(a, place(e))))}
      >
        <svg class="strip" viewBox={`0 0 ${bins} 1000`} preserveAspectRatio="none">
          {layers.map(([kind, path]) => (
            <path key={kind} class={HUE[kind]} d={path} />
          ))}
        </svg>
        {memory && (
          <svg class="memory" viewBox={`0 0 ${bins} 1000`} preserveAspectRatio="none">
            <path d={memory} />
          </svg>
        )}
        {bin !== null && <i class="at" style={{ left: `${((bin + 0.5) / bins) * 100}%` }} />}
      </div>
      <div class="row ov-legend num" onKeyDown={undefined}>
        {parts.map((p) => (
          <span key={p.kind} class="nw" title={WHAT[p.kind]}>
            <i class={`hue ${HUE[p.kind]}`} />
            {NAMES[p.kind]}{" "}
            <Go
              to={p.reach ? timeAt(p.reach) : pageAt("timeline")}
              label={`${NAMES[p.kind]} ${micros(p.us)}, ${percent(p.us / a.end)} of the run`}
            >
              {micros(p.us)}
            </Go>{" "}
            <span class="t3">{percent(p.us / a.end)}</span>
          </span>
        ))}
        {a.peak > 0 && (
          <span class="nw" title="Peak memory allocated at one time, over all devices">
            <i class="hue memory" />
            memory <Go to={atPeak()}>{bytes(a.peak)}</Go>
          </span>
        )}
        <span class="sp" />
        <span class="t3 el ov-now" role="status">
          {bin === null ? "" : said(bin)}
        </span>
      </div>
    </section>
  );

  function said(at: number): string {
    const shares = sharesIn(a!, at).map(({ kind, share }) => `${NAMES[kind]} ${percent(share)}`);
    const held = a!.memory[at];
    const allocated = held === undefined ? "" : `, ${bytes(held)} allocated`;
    return `at ${micros(((at + 0.5) / bins) * a!.end)}: ${shares.join(", ")}${allocated}`;
  }
}
