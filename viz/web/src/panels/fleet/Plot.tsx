/** The drawing of a figure over the commits. Wheel and keys zoom, dragging and keys move; the commit at
 * the pointer is told on a canvas of its own, so that pointing changes nothing else. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FleetSeries } from "../../data/fleet";
import { plural, short } from "../../state/format";
import { themeVersion } from "../../state/theme";
import { LEFT, paintCommit, paintFigure, RIGHT, type Picture } from "./paint";
import { bounded, commitAt, revealing, zoomed, type Range } from "./plotScale";
import { said } from "./words";
import { show } from "./link";

const DRAGGED_PX = 4;

export function Plot({ known }: { known: FleetSeries }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<readonly [number, number]>([0, 0]);
  const count = known.commits.length;
  const [asked, setRange] = useState<Range>([0, count]);
  const [cursor, setCursor] = useState<number | null>(null);
  const pointed = useRef<number | null>(null);
  const drag = useRef<{ x: number; range: Range; moved: boolean } | null>(null);
  const frame = useRef(0);
  const range = bounded(asked, count);
  const width = Math.max(1, size[0] - LEFT - RIGHT);
  const order = useMemo(() => numbered(known), [known]);
  const picture: Picture = { known, order, range, size };

  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setSize([el.clientWidth, el.clientHeight]));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    setRange([0, count]);
    setCursor(null);
  }, [known]);
  useLayoutEffect(
    () => paintFigure(canvas.current!, picture),
    [known, size, ...range, themeVersion.value],
  );
  const tell = (): void => paintCommit(over.current!, picture, pointed.current ?? cursor);
  useLayoutEffect(tell, [known, size, ...range, cursor, themeVersion.value]);

  /** Where the pointer is in the drawing: nothing of the page is measured for it. */
  const placeOf = (e: MouseEvent): number => e.offsetX - LEFT;
  const point = (commit: number | null): void => {
    if (commit === pointed.current) return;
    pointed.current = commit;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(tell);
  };
  const zoom = (factor: number, share: number): void =>
    setRange(zoomed(range, factor, share, count));
  const goTo = (commit: number): void => {
    const to = Math.max(0, Math.min(count - 1, commit));
    setCursor(to);
    setRange(revealing(range, to, count));
  };
  const onWheel = (e: WheelEvent): void => {
    if (e.shiftKey || e.altKey) return;
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const by = (e.deltaX / width) * (range[1] - range[0]);
      setRange(bounded([range[0] + by, range[1] + by], count));
    } else zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), placeOf(e) / width);
  };
  useEffect(() => {
    const el = box.current!;
    el.addEventListener("wheel", onWheel, { passive: false });
    return () => el.removeEventListener("wheel", onWheel);
  });
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  const onKeyDown = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const middle = ((cursor ?? count - 1) + 0.5 - range[0]) / (range[1] - range[0]);
    const keys: Record<string, () => void> = {
      ArrowRight: () => goTo(cursor === null ? 0 : cursor + 1),
      ArrowLeft: () => goTo(cursor === null ? count - 1 : cursor - 1),
      Home: () => goTo(0),
      End: () => goTo(count - 1),
      "+": () => zoom(1.5, middle),
      "-": () => zoom(1 / 1.5, middle),
      "0": () => setRange([0, count]),
      Enter: () => list(cursor),
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  };
  /** Lists the runs of a commit. */
  const list = (commit: number | null): void => {
    if (commit !== null) show({ query: known.commits[commit]!.slice(0, 12) });
  };

  return (
    <div
      class="plot"
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label="Commit"
      aria-valuemin={1}
      aria-valuemax={count}
      aria-valuenow={(cursor ?? count - 1) + 1}
      aria-valuetext={cursor === null ? aboutAll(known) : aboutCommit(known, cursor)}
      title="Wheel: zoom. Drag: move. Click: list the runs of the commit"
      onKeyDown={onKeyDown}
      onPointerDown={(e) => {
        if (e.button !== 0) return;
        drag.current = { x: e.offsetX, range, moved: false };
        e.currentTarget.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const held = drag.current;
        if (held && (held.moved || Math.abs(e.offsetX - held.x) > DRAGGED_PX)) {
          held.moved = true;
          const by = ((held.x - e.offsetX) / width) * (held.range[1] - held.range[0]);
          setRange(bounded([held.range[0] + by, held.range[1] + by], count));
        }
        point(commitAt(range, placeOf(e), width, count));
      }}
      onPointerLeave={() => point(null)}
      onPointerUp={(e) => {
        if (drag.current?.moved === false) list(commitAt(range, placeOf(e), width, count));
        drag.current = null;
      }}
      onPointerCancel={() => (drag.current = null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <canvas ref={over} aria-hidden="true" />
    </div>
  );
}

/** The number of the commit of each point, by program. */
function numbered(known: FleetSeries): readonly (readonly number[])[] {
  const at = new Map(known.commits.map((commit, i) => [commit, i]));
  return known.programs.map((p) => p.points.map((q) => at.get(q.commit)!));
}

function aboutAll(known: FleetSeries): string {
  const changes = known.programs.reduce((n, p) => n + p.changes.length, 0);
  return `${short(known.of)} over ${plural(known.commits.length, "commit")}, ${plural(changes, "change")}`;
}

function aboutCommit(known: FleetSeries, commit: number): string {
  const name = known.commits[commit]!;
  const told = known.programs.flatMap((p) => {
    const point = p.points.find((q) => q.commit === name);
    if (!point) return [];
    const change = p.changes.some((c) => c.commit === name) ? ", changed here" : "";
    return [`${short(p.program, 40)} ${said(known.metric, point.median)}${change}`];
  });
  return `${name.slice(0, 8)}: ${told.join("; ")}`;
}
