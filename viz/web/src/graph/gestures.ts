/**
 * Pointer and wheel on a pane: drag pans, the wheel zooms at the pointer, two fingers do both.
 *
 * Reports what was meant and whether Alt was held (then only this pane moves). Never moves
 * anything itself.
 */
export interface GestureEvents {
  pan(dx: number, dy: number, alone: boolean): void;
  zoom(factor: number, x: number, y: number, alone: boolean): void;
  click(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
}

/** A press that moves less than this is a click, px. */
const CLICK = 4;
/** Zoom per wheel pixel. */
const WHEEL = 0.0016;
const LINE_PX = 16;
/** Largest step of one wheel event, px: a notch of a coarse wheel stays gentle. */
const NOTCH = 120;

export function listen(element: HTMLElement, events: GestureEvents): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const fingers = new Map<number, [number, number]>();
  let moved = 0;
  const at = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 && event.button !== 1) return;
      element.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, at(event));
      moved = 0;
    },
    { signal },
  );
  element.addEventListener(
    "pointermove",
    (event) => {
      const now = at(event);
      const was = fingers.get(event.pointerId);
      if (!was) {
        events.hover(...now);
        return;
      }
      const dx = now[0] - was[0];
      const dy = now[1] - was[1];
      moved += Math.abs(dx) + Math.abs(dy);
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const before = Math.hypot(was[0] - other[0], was[1] - other[1]);
        const after = Math.hypot(now[0] - other[0], now[1] - other[1]);
        const mx = (now[0] + other[0]) / 2;
        const my = (now[1] + other[1]) / 2;
        if (before > 1) events.zoom(after / before, mx, my, event.altKey);
        events.pan(dx / 2, dy / 2, event.altKey);
      } else if (moved >= CLICK) events.pan(dx, dy, event.altKey);
      fingers.set(event.pointerId, now);
    },
    { signal },
  );
  element.addEventListener(
    "pointerup",
    (event) => {
      if (fingers.delete(event.pointerId) && moved < CLICK && event.button === 0)
        events.click(...at(event));
    },
    { signal },
  );
  element.addEventListener(
    "pointercancel",
    (event) => {
      fingers.delete(event.pointerId);
    },
    { signal },
  );
  element.addEventListener("pointerleave", () => events.leave(), { signal });
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
      const [x, y] = at(event);
      // Shift turns the wheel sideways, as everywhere.
      if (event.shiftKey) {
        events.pan(-(event.deltaX || event.deltaY) * unit, 0, event.altKey);
        return;
      }
      const delta = Math.max(-NOTCH, Math.min(NOTCH, event.deltaY * unit));
      events.zoom(Math.exp(-delta * WHEEL * (event.ctrlKey ? 4 : 1)), x, y, event.altKey);
      if (event.deltaX) events.pan(-event.deltaX * unit, 0, event.altKey);
    },
    { signal, passive: false },
  );
  return () => abort.abort();
}
