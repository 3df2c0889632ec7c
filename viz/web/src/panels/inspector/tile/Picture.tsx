/**
 * A tile to look at: all of it, and a part with numbers. The pointer or the arrow keys say what an
 * element is; a click, Enter or the space bar lights all that the same lane or bank has.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { themeVersion } from "../../../state/theme";
import type { Face } from "./faces";
import { drawAll, drawPart, GUTTER, HEAD, type Marks, readPalette } from "./paint";
import { type Cell, inside, partAround, SPAN, step } from "./part";

const LARGEST_CELL = 24;
/** Height of the whole tile, at most. */
const TALLEST = 160;

export function Picture({ face, name, start }: { face: Face; name: string; start: Cell }) {
  const box = useRef<HTMLDivElement>(null);
  const all = useRef<HTMLCanvasElement>(null);
  const near = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState<Cell>(start);
  const [lit, setLit] = useState<number | null>(null);
  const [focused, setFocused] = useState(false);
  const version = themeVersion.value;
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const at = inside(face, cursor);
  const part = partAround(face, at);
  const cell = Math.max(1, Math.min(LARGEST_CELL, Math.floor((width - GUTTER - 1) / SPAN)));
  const small = smallCell(face, width);
  const group = face.group(...at);
  const isWhole = part.rows === face.rows && part.columns === face.columns;
  const marks: Marks = { face, lit, cursor: at, focused };
  useEffect(() => {
    if (!box.current || !width) return;
    const palette = readPalette(box.current);
    if (all.current) drawAll(all.current, palette, marks, small, part);
    if (near.current) drawPart(near.current, palette, marks, cell, part);
  }, [face, lit, at[0], at[1], focused, width, version]);

  const light = (of: Cell): void => {
    const group = face.group(...of);
    setLit(group < 0 || group === lit ? null : group);
  };
  const hit = (e: MouseEvent, w: number, h: number, from: Cell, skip: Cell): Cell | null => {
    const row = from[0] + Math.floor((e.offsetY - skip[0]) / h);
    const column = from[1] + Math.floor((e.offsetX - skip[1]) / w);
    const known = row >= from[0] && column >= from[1] && row < face.rows && column < face.columns;
    return known ? [row, column] : null;
  };
  const onAll = (e: MouseEvent): Cell | null => hit(e, small[0], small[1], [0, 0], [0, 0]);
  const onNear = (e: MouseEvent): Cell | null =>
    hit(e, cell, cell, [part.row, part.column], [HEAD, GUTTER]);
  const move = (to: Cell | null): void => {
    if (to) setCursor(to);
  };
  return (
    <div class="tile-picture" ref={box}>
      {!isWhole && (
        <canvas
          ref={all}
          class="all"
          style={{ width: `${face.columns * small[0]}px`, height: `${face.rows * small[1]}px` }}
          aria-hidden="true"
          onPointerDown={(e) => move(onAll(e))}
          onPointerMove={(e) => e.buttons && move(onAll(e))}
        />
      )}
      <canvas
        ref={near}
        class="near"
        style={{
          width: `${GUTTER + part.columns * cell + 1}px`,
          height: `${HEAD + part.rows * cell + 1}px`,
        }}
        tabIndex={0}
        role="application"
        aria-roledescription="grid of elements"
        aria-label={`${name}. ${face.say(...at)}`}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onPointerMove={(e) => move(onNear(e))}
        onClick={(e) => {
          const found = onNear(e);
          if (found) light(found);
        }}
        onKeyDown={(e) => {
          if (e.ctrlKey || e.metaKey || e.altKey) return;
          if (e.key === "Enter" || e.key === " ") light(at);
          else {
            const to = step(e.key, at, face);
            if (!to) return;
            setCursor(inside(face, to));
          }
          e.preventDefault();
          e.stopPropagation();
        }}
      />
      <div class="said">
        <p role="status">{face.say(...at)}</p>
        <p class="t2">
          {lit !== null
            ? `Lit is ${face.sayGroup(lit)}`
            : group >= 0 && `Click, or Enter: light all of ${face.nameGroup(group)}`}
        </p>
      </div>
    </div>
  );
}

/** The size of an element where all are shown. */
function smallCell(face: Face, width: number): readonly [number, number] {
  const size = Math.min(width / face.columns, TALLEST / face.rows, 10);
  const whole = size >= 1 ? Math.floor(size) : size;
  return [whole, whole];
}
