/** A figure over the commits: a line for each program through the medians, the range of its runs, and
 * marks at the commits that changed it. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FleetSeries } from "../../data/fleet";
import { count, micros, short } from "../../state/format";
import { themeVersion } from "../../state/theme";
import { prepare } from "../../ui/canvas";
import { fleetLink, show } from "./link";
import { fleet, openPair, series, subject } from "./store";

const INKS = ["--o-alu", "--o-red", "--o-mem", "--o-view", "--o-range", "--o-dev"];
const [LEFT, RIGHT, TOP, FOOT] = [72, 12, 10, 22];
type Program = FleetSeries["programs"][number];

/** "rule-time" as words. */
function words(metric: string): string {
  const [first, ...rest] = metric.replace(/^(rule|pass)-/, "").split("-");
  return [first![0]!.toUpperCase() + first!.slice(1), ...rest].join(" ");
}

export function Figure() {
  const known = series.value;
  const { metric } = fleetLink.value;
  const isDrawn = known?.metric === metric && known.of === subject.value;
  return (
    <>
      <div class="ph">
        <select
          class="btn"
          aria-label="Figure"
          value={metric}
          onChange={(e) => show({ metric: e.currentTarget.value })}
        >
          {fleet.value!.metrics.map((m) => (
            <option key={m.name} value={m.name}>
              {words(m.name)} of each {m.of}
            </option>
          ))}
        </select>
        <b class="mono el">{short(subject.value)}</b>
        <span class="sp" />
        {isDrawn &&
          known.programs.map((p, i) => (
            <span key={p.program} class="row key nw">
              <i style={{ background: `var(${INKS[i % INKS.length]!})` }} aria-hidden="true" />
              {short(p.program, 40)}
            </span>
          ))}
      </div>
      {!isDrawn ? (
        <div class="state">Loading the figure</div>
      ) : known.programs.length ? (
        <>
          <Drawn known={known} />
          <Changes known={known} />
        </>
      ) : (
        <div class="state">
          No run has {metric} of {short(subject.value)}.
        </div>
      )}
    </>
  );
}

function Drawn({ known }: { known: FleetSeries }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<readonly [number, number]>([0, 0]);
  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setSize([el.clientWidth, el.clientHeight]));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => paint(canvas.current!, known, ...size), [known, size, themeVersion.value]);
  const changes = known.programs.reduce((n, p) => n + p.changes.length, 0);
  return (
    <div class="plot" ref={box}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${known.metric} of ${known.of} over ${known.commits.length} commits, ${changes} changes`}
      />
    </div>
  );
}

/** The commits that changed it, each with the program in which it changed most: a link to two runs side
 * by side. */
function Changes({ known }: { known: FleetSeries }) {
  const found = new Map<string, (Program["changes"][number] & { program: string })[]>();
  for (const { program, changes } of known.programs)
    for (const change of changes)
      found.set(change.commit, [...(found.get(change.commit) ?? []), { ...change, program }]);
  const commits = known.commits.filter((commit) => found.has(commit));
  if (!commits.length) return <div class="changes t3">No commit has changed it.</div>;
  return (
    <div class="changes row wrap">
      {commits.map((commit) => {
        const all = found.get(commit)!;
        const c = all.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
        return (
          <button
            type="button"
            key={commit}
            class="chip"
            title={`Open runs of ${short(c.program)} before and after side by side`}
            onClick={() => void openPair(c.a, c.b)}
          >
            <span class="cmov" aria-hidden="true">
              ◆
            </span>
            <span class="mono">{commit.slice(0, 8)}</span>
            {short(c.program, 24)}
            {all.length > 1 && ` and ${all.length - 1} more`}: {said(known.metric, c.before)} to{" "}
            {said(known.metric, c.after)}
          </button>
        );
      })}
    </div>
  );
}

/** How far a change is from none, up and down alike. */
const sizeOf = ({ before, after }: { before: number; after: number }): number =>
  Math.abs(Math.log(Math.max(after, 1e-9) / Math.max(before, 1e-9)));

/** A value of a metric with its unit. */
function said(metric: string, value: number): string {
  if (metric === "launch-time") return micros(value / 1000);
  return metric.endsWith("-time") ? micros(value) : count(Math.round(value));
}

function paint(canvas: HTMLCanvasElement, known: FleetSeries, width: number, height: number): void {
  const g = prepare(canvas, width, height);
  if (!g) return;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const style = getComputedStyle(canvas);
  const ink = (name: string): string => style.getPropertyValue(name);
  const at = new Map(known.commits.map((commit, i) => [commit, i]));
  const most = Math.max(...known.programs.flatMap((p) => p.points.map((q) => q.high)), 1e-9);
  const x = (commit: string): number =>
    LEFT + ((width - LEFT - RIGHT) * (at.get(commit)! + 0.5)) / known.commits.length;
  const y = (value: number): number => TOP + (height - TOP - FOOT) * (1 - value / most);
  g.font = `11px ${style.fontFamily}`;
  g.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    g.fillStyle = ink("--line");
    g.fillRect(LEFT, Math.round(y(share * most)), width - LEFT - RIGHT, 1);
    g.fillStyle = ink("--text3");
    g.textAlign = "right";
    g.fillText(said(known.metric, share * most), LEFT - 8, y(share * most));
  }
  g.fillStyle = ink("--text3");
  g.textAlign = "left";
  g.fillText(known.commits[0]!.slice(0, 8), LEFT, height - 8);
  g.textAlign = "right";
  g.fillText(known.commits.at(-1)!.slice(0, 8), width - RIGHT, height - 8);
  g.setLineDash([3, 3]);
  g.strokeStyle = ink("--mov");
  for (const commit of new Set(known.programs.flatMap((p) => p.changes.map((c) => c.commit)))) {
    const left = Math.round(x(commit) - (width - LEFT - RIGHT) / known.commits.length / 2) + 0.5;
    g.beginPath();
    g.moveTo(left, TOP);
    g.lineTo(left, height - FOOT);
    g.stroke();
  }
  g.setLineDash([]);
  known.programs.forEach((p, i) => line(g, p, ink(INKS[i % INKS.length]!), x, y));
}

function line(
  g: CanvasRenderingContext2D,
  program: Program,
  ink: string,
  x: (commit: string) => number,
  y: (value: number) => number,
): void {
  g.strokeStyle = g.fillStyle = ink;
  g.globalAlpha = 0.35;
  for (const p of program.points) g.fillRect(x(p.commit) - 1, y(p.high), 2, y(p.low) - y(p.high));
  g.globalAlpha = 1;
  g.lineWidth = 1.5;
  g.beginPath();
  program.points.forEach((p, i) => g[i ? "lineTo" : "moveTo"](x(p.commit), y(p.median)));
  g.stroke();
  for (const p of program.points) {
    g.beginPath();
    g.arc(x(p.commit), y(p.median), 2.5, 0, 7);
    g.fill();
  }
}
