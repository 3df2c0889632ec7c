/** The tracks: labels that open, spans on canvas. Wheel zooms, drag pans, a click selects. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, plural } from "../../state/format";
import { themeVersion } from "../../state/theme";
import { prepare } from "../../ui/canvas";
import { Icon } from "../../ui/Icon";
import { openPicked } from "./data/jump";
import { drawTracks, palette, RULER } from "./draw";
import { namePick } from "./data/pick";
import { panned, timeText } from "./data/scale";
import { spanAt } from "./data/spans";
import {
  end,
  litName,
  moment,
  picked,
  pickItem,
  pickMoment,
  pickNext,
  pointed,
  shelves,
  show,
  shown,
  timelineData,
  toggleOpened,
  zoom,
} from "./data/store";
import { timelineLink, goTimeline } from "./data/link";

const CLICK = 4;
const SLACK = 5;

export function Tracks() {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const drag = useRef<{
    x: number;
    y: number;
    from: readonly [number, number];
    top: number;
  } | null>(null);
  const moved = useRef(false);
  const d = timelineData.value!;
  const all = shelves.value;
  const last = all.at(-1);
  const height = RULER + (last ? last.top + last.height : 0);
  const failed = useMemo(
    () =>
      new Map(
        d.tracks.flatMap((t, i) => (t.kind === "thread" ? [[i, new Set(t.failed)] as const] : [])),
      ),
    [d],
  );

  useEffect(() => {
    const watch = new ResizeObserver(() => {
      if (!area.current || !scroller.current) return;
      setSize({ width: area.current.clientWidth, height: scroller.current.clientHeight });
    });
    watch.observe(scroller.current!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const el = canvas.current;
      const g = el && prepare(el, size.width, size.height);
      if (!el || !g) return;
      const p = picked.peek();
      drawTracks(
        g,
        size.width,
        size.height,
        {
          shelves: all,
          names: d.names,
          shown: shown.peek(),
          scroll,
          marks: timelineLink.peek().marks,
          picked: p,
          moment: moment.peek(),
          litName: litName.peek(),
          pointed: pointed.peek(),
          failed,
        },
        palette(el),
      );
    });
    return () => cancelAnimationFrame(frame);
  }, [
    all,
    shown.value,
    scroll,
    size,
    timelineLink.value.marks,
    picked.value,
    moment.value,
    litName.value,
    pointed.value,
    themeVersion.value,
  ]);

  const timeAt = (x: number): number => {
    const [from, to] = shown.peek();
    return from + (x / Math.max(1, size.width)) * (to - from);
  };
  const hit = (x: number, y: number): { track: number; item: number } | null => {
    if (y < RULER) return null;
    const at = y - RULER + scroll;
    const [from, to] = shown.peek();
    const slack = (SLACK / Math.max(1, size.width)) * (to - from);
    for (const shelf of all)
      for (const { row, top } of shelf.rows)
        if (at >= top && at < top + 22) {
          const i = spanAt(row, timeAt(x), slack);
          if (i >= 0) return { track: row.track, item: row.item[i]! };
        }
    return null;
  };
  const memoryAt = (y: number): number | null => {
    const at = y - RULER + scroll;
    const shelf = all.find((s) => s.memory && at >= s.top && at < s.top + s.height);
    return y < RULER || !shelf ? null : shelf.track;
  };
  const onWheel = (e: WheelEvent): void => {
    if (e.shiftKey || e.altKey) return;
    e.preventDefault();
    const x = e.clientX - canvas.current!.getBoundingClientRect().left;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const [from, to] = shown.peek();
      show(panned(shown.peek(), (e.deltaX / size.width) * (to - from), end.peek()));
    } else zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), timeAt(x));
  };
  useEffect(() => {
    const el = canvas.current!;
    el.addEventListener("wheel", onWheel, { passive: false });
    return () => el.removeEventListener("wheel", onWheel);
  });

  return (
    <div
      class="tl-scroll"
      ref={scroller}
      data-region="Tracks"
      onScroll={(e) => setScroll(e.currentTarget.scrollTop)}
    >
      <div class="tl-inner" style={{ height: `${height}px` }}>
        {all.map((s) => (
          <div
            class={s.kernel >= 0 ? "tl-label kernel" : "tl-label"}
            key={s.key}
            style={{ top: `${RULER + s.top}px`, height: `${s.height}px` }}
          >
            {s.opened !== null ? (
              <button
                type="button"
                class="link plain row g4 b"
                aria-expanded={s.opened}
                title="One row for each kernel"
                onClick={() => toggleOpened(s.track)}
              >
                <Icon name={s.opened ? "down" : "right"} />
                <span class="el">{s.label}</span>
              </button>
            ) : s.kernel >= 0 ? (
              <button
                type="button"
                class="link plain el"
                title={`${s.label}, ${plural(s.rows[0]?.row.start.length ?? 0, "launch", "launches")}`}
                onClick={() => goTimeline({ pick: namePick(d.names[s.kernel] ?? "") })}
              >
                {s.label}
              </button>
            ) : (
              <b class="el">{s.label}</b>
            )}
            {s.note && <span class="t3 small num el">{s.note}</span>}
          </div>
        ))}
        <div class="tl-area" ref={area}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label="Timeline: Left and Right select the previous and the next span, Enter opens it"
            aria-describedby="tl-said"
            style={{ width: `${size.width}px`, height: `${size.height}px` }}
            onPointerDown={(e) => {
              if (e.button !== 0) return;
              e.currentTarget.setPointerCapture(e.pointerId);
              moved.current = false;
              const top = scroller.current!.scrollTop;
              drag.current = { x: e.clientX, y: e.clientY, from: shown.peek(), top };
            }}
            onPointerMove={(e) => {
              const box = e.currentTarget.getBoundingClientRect();
              pointed.value = timeAt(e.clientX - box.left);
              const start = drag.current;
              if (!start) return;
              const dx = e.clientX - start.x;
              const dy = e.clientY - start.y;
              if (Math.abs(dx) + Math.abs(dy) > CLICK) moved.current = true;
              if (!moved.current) return;
              const [from, to] = start.from;
              show(panned(start.from, (-dx / size.width) * (to - from), end.peek()));
              scroller.current!.scrollTop = start.top - dy;
            }}
            onPointerUp={(e) => {
              drag.current = null;
              if (moved.current) return;
              const box = e.currentTarget.getBoundingClientRect();
              const found = hit(e.clientX - box.left, e.clientY - box.top);
              const memory = found ? null : memoryAt(e.clientY - box.top);
              if (found) pickItem(found.track, found.item);
              else if (memory !== null) pickMoment(memory, timeAt(e.clientX - box.left));
              else if (timelineLink.peek().pick !== null) goTimeline({ pick: null });
            }}
            onPointerCancel={() => (drag.current = null)}
            onPointerLeave={() => (pointed.value = null)}
            onDblClick={openPicked}
            onKeyDown={(e) => {
              if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
              e.preventDefault();
              e.stopPropagation();
              pickNext(e.key === "ArrowRight" ? 1 : -1);
            }}
          />
        </div>
      </div>
      <Said />
    </div>
  );
}

/** The selected span, or the moment of a memory, for those who listen. */
function Said() {
  const p = picked.value;
  const m = moment.value;
  const step = p ? (p.span[1] - p.span[0]) / 100 || 1 : 1;
  return (
    <div class="sr" id="tl-said" aria-live="polite">
      {p
        ? `${p.name}, ${p.hue}, from ${timeText(p.span[0], step)}, ${timeText(p.span[1] - p.span[0], step)} long`
        : m
          ? `${m.device} memory, ${bytes(m.bytes)} at ${timeText(m.time, 1)}`
          : ""}
    </div>
  );
}
