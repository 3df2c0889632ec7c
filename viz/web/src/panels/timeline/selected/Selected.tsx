/** What is selected in the timeline: when, how long, how often, and the way to its graphs. */
import type { ComponentChildren } from "preact";
import { bytes, count, micros, place, plural, short } from "../../../state/format";
import { rows } from "../../../state/state";
import { Clipped, Place } from "../../../ui/code/Text";
import { canOpen, kernelNamed, openPicked, openRow, rowOf } from "../data/jump";
import { namePick, pickedName, type Picked } from "../data/pick";
import { timeText } from "../data/scale";
import { HUES, type Total } from "../data/spans";
import { inRun, mark, moment, picked, pickNext, timelineData, zoomToPicked } from "../data/store";
import { timelineLink, goTimeline } from "../data/link";
import { Held } from "./Held";
import { rateText, work } from "../data/rate";

export function Selected() {
  const p = picked.value;
  const name = pickedName(timelineLink.value.pick);
  const m = moment.value;
  const title = p?.name ?? (m ? `${m.device} memory` : name);
  return (
    <section class="tl-sel" data-region="Selection" aria-label="Selection">
      <div class="ph">
        <b class="el" title={title === null ? undefined : short(title, 1000)}>
          {title === null ? "Nothing selected" : short(title, 200)}
        </b>
        <span class="sp" />
        {canOpen() && (
          <button type="button" class="btn sm" title="Enter" onClick={openPicked}>
            Open graphs
          </button>
        )}
      </div>
      <div class="scroll">
        {p ? <Span p={p} /> : m ? <Held moment={m} /> : name !== null ? <Named name={name} /> : <Nothing />}
        <Marks />
      </div>
    </section>
  );
}

function Nothing() {
  return (
    <div class="state">
      <span>
        Click a span, or press <kbd>→</kbd> for the next one. Select a name in the table to
        highlight all of its spans. Click into a device's memory for what it holds then.
      </span>
    </div>
  );
}

type Line = [string, ComponentChildren];

function Span({ p }: { p: Picked }) {
  const d = timelineData.value!;
  const track = d.tracks[p.track]!;
  const length = p.span[1] - p.span[0];
  const row = p.entry === null ? undefined : rowOf(p.entry);
  const parent = row ? rows.value[row.parent] : undefined;
  const kernel = p.entry === null ? kernelNamed(p.name) : undefined;
  const lines: Line[] = [
    ["Started", <span class="num">{timeText(p.span[0], Math.max(length / 100, 0.1))}</span>],
    [p.open ? "So far" : "Lasted", <b class="num">{micros(length)}</b>],
    [
      p.entry === null ? "Device" : "Thread",
      `${track.name}${track.pid ? `, pid ${track.pid}` : ""}`,
    ],
  ];
  if (row) {
    if (row.kind === "context") lines.push(["Passes", passes(row.row)]);
    lines.push(["Matches", <span class="num">{count(row.steps)}</span>]);
    lines.push(["Declines", <span class="num">{count(row.declines)}</span>]);
    if (parent)
      lines.push([
        "Part of",
        <button type="button" class="link el" onClick={() => goTimeline({ pick: `e${parent.id}` })}>
          {short(parent.name)}
        </button>,
      ]);
    if (row.caller) lines.push(["Called from", <Place {...place(row.caller)} />]);
  }
  if (p.failed) lines.push(["Status", <span class="cdel b">! failed</span>]);
  if (p.entry === null) {
    if (p.bytes)
      lines.push([
        "Moved",
        <span class="num">
          {bytes(p.bytes)}
          {length > 0 && <span class="t3"> {bytes((p.bytes / length) * 1e6)}/s</span>}
        </span>,
      ]);
    if (kernel?.calls) lines.push(["Calls", kernel.calls]);
    if (work.value?.name === p.name && rateText(work.value, length))
      lines.push(["Rate", <span class="num">{rateText(work.value, length)}</span>]);
    lines.push(...ofName(p.name, ["launch"]));
    if (kernel)
      lines.push([
        "Compiled",
        <button type="button" class="link" onClick={() => goTimeline({ pick: `e${kernel.id}` })}>
          {plural(kernel.steps, "step")}
        </button>,
      ]);
  }
  return (
    <>
      <Facts lines={lines} />
      <div class="row wrap g4 tl-acts">
        <button type="button" class="btn sm" onClick={zoomToPicked}>
          Zoom to selection
        </button>
        <button type="button" class="btn sm" title="←" onClick={() => pickNext(-1)}>
          Previous
        </button>
        <button type="button" class="btn sm" title="→" onClick={() => pickNext(1)}>
          Next
        </button>
        <button
          type="button"
          class="btn sm quiet"
          onClick={() => goTimeline({ pick: namePick(p.name) })}
        >
          All with this name
        </button>
      </div>
    </>
  );
}

function Named({ name }: { name: string }) {
  const kernel = kernelNamed(name);
  return (
    <>
      <Facts lines={[...meanRate(name), ...ofName(name, HUES)]} />
      <div class="row wrap g4 tl-acts">
        <button type="button" class="btn sm" title="→" onClick={() => pickNext(1)}>
          Next in view
        </button>
        {kernel && !canOpen() && (
          <button type="button" class="btn sm" onClick={() => openRow(kernel)}>
            Open graphs
          </button>
        )}
      </div>
    </>
  );
}

/** The calls of a kernel, and its rate over all launches. */
function meanRate(name: string): Line[] {
  const lines: Line[] = [];
  const calls = kernelNamed(name)?.calls;
  if (calls) lines.push(["Calls", calls]);
  const at = timelineData.value?.names.indexOf(name) ?? -1;
  const ran = inRun.value.find((t) => t.name === at && HUES[t.hue] === "launch");
  const rate = ran && work.value?.name === name ? rateText(work.value, ran.total / ran.count) : "";
  if (rate) lines.push(["Mean rate", <span class="num">{rate}</span>]);
  return lines;
}

/** What stands before the totals of a kind of span. */
const AS: Readonly<Record<(typeof HUES)[number], string>> = {
  schedule: "Scheduling",
  kernel: "Compilation",
  pass: "As a pass",
  group: "As a group",
  launch: "Launches",
};

/** Totals of a name over the whole run. */
function ofName(name: string, hues: readonly string[]): Line[] {
  const at = timelineData.value?.names.indexOf(name) ?? -1;
  return inRun.value
    .filter((t: Total) => t.name === at && hues.includes(HUES[t.hue]!))
    .map((t: Total): Line => {
      const what = AS[HUES[t.hue]!];
      return [
        what,
        <span class="num">
          {t.count === 1 ? (
            <b>{micros(t.total)}</b>
          ) : (
            <>
              <b>{count(t.count)}</b> in the run, <b>{micros(t.total)}</b> in total, mean{" "}
              {micros(t.total / t.count)}, longest {micros(t.longest)}
            </>
          )}
        </span>,
      ];
    });
}

function passes(row: number): string {
  const inside = new Set([row]);
  let ran = 0;
  let idle = 0;
  for (const r of rows.value) {
    if (!inside.has(r.parent) || r.target) continue;
    inside.add(r.row);
    if (r.kind !== "rewrite") continue;
    ran += 1;
    if (!r.steps) idle += 1;
  }
  return `${count(ran)} ran, ${count(idle)} changed nothing`;
}

function Marks() {
  const { marks } = timelineLink.value;
  if (!marks.length) return null;
  return (
    <div class="sec">
      <h3>
        Marks
        <span class="sp" />
        <button type="button" class="link" onClick={() => goTimeline({ marks: [] }, "replace")}>
          Clear
        </button>
      </h3>
      <ul class="num">
        {marks.map((t, i) => (
          <li key={t}>
            {timeText(t, 1)}
            {i > 0 && <span class="t3"> {micros(t - marks[i - 1]!)} after the previous mark</span>}
          </li>
        ))}
      </ul>
      <button type="button" class="btn sm" title="B" onClick={mark}>
        Add a mark
      </button>
    </div>
  );
}

function Facts({ lines }: { lines: Line[] }) {
  return (
    <dl class="kv pad">
      {lines.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? <Clipped text={value} /> : value}</dd>
        </>
      ))}
    </dl>
  );
}
