/** Pointer handlers of a strip: a click jumps, dragging previews, letting go keeps. */
import { batch, type Signal } from "@preact/signals";
import { stepAt, type Scale } from "./scale";

type OnCanvas = PointerEvent & { currentTarget: HTMLCanvasElement };

/** `preview` is where the pointer is while it is down; `keep` goes there in the end. `near` moves a
 * place to one that may be chosen. */
export function pointing(
  scale: Scale,
  preview: Signal<number | null>,
  keep: (at: number) => void,
  near: (at: number) => number = (at) => at,
) {
  const at = (e: OnCanvas): number =>
    near(stepAt(scale, e.clientX - e.currentTarget.getBoundingClientRect().left));
  return {
    onPointerDown: (e: OnCanvas) => {
      if (e.button !== 0 || !scale.count) return;
      e.currentTarget.setPointerCapture(e.pointerId);
      preview.value = at(e);
    },
    onPointerMove: (e: OnCanvas) => {
      if (e.currentTarget.hasPointerCapture(e.pointerId)) preview.value = at(e);
    },
    onPointerUp: () => {
      const chosen = preview.peek();
      if (chosen === null) return;
      batch(() => {
        preview.value = null;
        keep(chosen);
      });
    },
    onPointerCancel: () => (preview.value = null),
  };
}
