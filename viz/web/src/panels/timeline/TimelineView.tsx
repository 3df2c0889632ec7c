/** When everything happened: the whole run on a strip, its tracks, and what took the time. */
import { useEffect, useRef } from "preact/hooks";
import { millis } from "../../state/format";
import { themeVersion } from "../../state/theme";
import { prepare } from "../../ui/canvas";
import { Icon } from "../../ui/Icon";
import { drawOverview, palette } from "./draw";
import { InView } from "./InView";
import { saveTraceEvents } from "./save";
import { Selected } from "./selected/Selected";
import { panned, timeText } from "./data/scale";
import { end, lanes, part, show, shown, spanRows, timeline, timelineData } from "./data/store";
import { Tracks } from "./Tracks";

const PARTS = [
  ["all", "All"],
  ["schedule", "Schedule"],
  ["compile", "Compile"],
  ["run", "Run"],
  ["memory", "Memory"],
] as const;

export function TimelineView() {
  const problem = timeline.error.value;
  const d = timelineData.value;
  return (
    <main class="tl" aria-label="Timeline">
      <Tools />
      <Overview />
      {d ? (
        <Tracks />
      ) : (
        <div class="state" role={problem ? "alert" : "status"}>
          {problem ? (
            <>
              <div class="h">{problem.what}</div>
              <div>{problem.hint}</div>
              <div class="mono">{problem.where}</div>
              <button type="button" class="btn" onClick={timeline.retry}>
                Try again
              </button>
            </>
          ) : (
            "Loading the timeline"
          )}
        </div>
      )}
      {d && (
        <div class="tl-low">
          <InView />
          <Selected />
        </div>
      )}
    </main>
  );
}

function Tools() {
  const [from, to] = shown.value;
  const d = timelineData.value;
  const step = (to - from) / 1000;
  return (
    <div class="ph" data-region="Timeline controls">
      <span class="seg" role="group" aria-label="Tracks">
        {PARTS.map(([key, name]) => (
          <button
            type="button"
            key={key}
            aria-pressed={part.value === key}
            onClick={() => (part.value = key)}
          >
            {name}
          </button>
        ))}
      </span>
      <span class="vr" />
      {d && (
        <>
          <span class="t2 num nw">
            {timeText(from, step)} – {timeText(to, step)}
          </span>
          <span class="t3 num nw mid">
            {millis((to - from) / 1000)} of {millis(end.value / 1000)}
          </span>
        </>
      )}
      {d?.truncated && <span class="badge mov el">◆ {d.truncated}</span>}
      <span class="sp" />
      <span class="t3 wide row g12">
        <span class="row g4">
          <kbd>←</kbd> <kbd>→</kbd> span
        </span>
        <span class="row g4">
          <kbd>0</kbd> all
        </span>
        <span class="row g4">
          <kbd>B</kbd> mark
        </span>
      </span>
      <button
        type="button"
        class="btn sm"
        disabled={!d}
        title="Trace events in JSON, for ui.perfetto.dev"
        onClick={saveTraceEvents}
      >
        <Icon name="export" />
        Save for Perfetto
      </button>
    </div>
  );
}

/** Drag moves what is shown; a click goes there. */
function Overview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const draw = (): void => {
    const el = canvas.current;
    if (!el || !box.current) return;
    const { clientWidth: w, clientHeight: h } = box.current;
    const g = prepare(el, w, h);
    if (g) drawOverview(g, w, h, spanRows.value, end.value, shown.value, palette(el));
  };
  useEffect(draw, [lanes.value, shown.value, themeVersion.value]);
  useEffect(() => {
    const watch = new ResizeObserver(draw);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const to = (e: PointerEvent): void => {
    const at = box.current!.getBoundingClientRect();
    const t = ((e.clientX - at.left) / at.width) * end.peek();
    const [a, z] = shown.peek();
    show(panned(shown.peek(), t - (a + z) / 2, end.peek()));
  };
  return (
    <div class="tl-over">
      <span class="t3 small">Whole run</span>
      <div ref={box}>
        <canvas
          ref={canvas}
          aria-hidden="true"
          onPointerDown={(e) => {
            e.currentTarget.setPointerCapture(e.pointerId);
            to(e);
          }}
          onPointerMove={(e) => e.currentTarget.hasPointerCapture(e.pointerId) && to(e)}
        />
      </div>
    </div>
  );
}
