/** A border that drags. Double click resets; arrow keys move it. */
import { useRef, useState } from "preact/hooks";
import { sizes, type Sizes } from "../state/prefs";

/** What one press of an arrow key moves it by, px. */
const STEP = 16;

interface DividerProps {
  part: keyof Sizes;
  label: string;
  class: string;
  /** Which way the part grows: along the pointer (1) or against it (-1). */
  grows: 1 | -1;
  axis: "x" | "y";
  min: number;
  max: number;
}

export function Divider({ part, label, class: name, grows, axis, min, max }: DividerProps) {
  const start = useRef({ at: 0, size: 0 });
  const self = useRef<HTMLDivElement>(null);
  /** The design's own size, measured when the keyboard comes here. */
  const [own, setOwn] = useState(min);
  const measure = (): number => {
    const box = self.current?.parentElement?.getBoundingClientRect();
    return box ? (axis === "x" ? box.width : box.height) : min;
  };
  const set = (size: number): void => {
    const bounded = Math.round(Math.max(min, Math.min(max, size)));
    sizes.value = { ...sizes.peek(), [part]: bounded };
  };
  const move = (e: PointerEvent): void => {
    if (!self.current?.hasPointerCapture(e.pointerId)) return;
    set(start.current.size + grows * ((axis === "x" ? e.clientX : e.clientY) - start.current.at));
  };
  return (
    <div
      ref={self}
      class={`divider ${axis === "x" ? "v" : "h"} ${name}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={axis === "x" ? "vertical" : "horizontal"}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={sizes.value[part] ?? own}
      onFocus={() => setOwn(Math.round(measure()))}
      onPointerDown={(e) => {
        e.preventDefault();
        self.current?.setPointerCapture(e.pointerId);
        self.current?.classList.add("drag");
        start.current = { at: axis === "x" ? e.clientX : e.clientY, size: measure() };
      }}
      onPointerMove={move}
      onPointerUp={() => self.current?.classList.remove("drag")}
      onPointerCancel={() => self.current?.classList.remove("drag")}
      onDblClick={() => (sizes.value = { ...sizes.peek(), [part]: null })}
      onKeyDown={(e) => {
        const along = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
        const way = along.indexOf(e.key);
        if (way < 0) return;
        e.preventDefault();
        e.stopPropagation();
        set(measure() + grows * (way ? STEP : -STEP));
      }}
    />
  );
}
