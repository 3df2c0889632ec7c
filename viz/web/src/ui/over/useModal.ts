/** The focus while a dialog is open: inside of it, and back where it was when the dialog closes. */
import { type RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { focusable } from "../../state/regions";

/**
 * Puts the focus on the first field of the dialog, else on itself, and Tab goes round inside. At
 * once, not after the next frame: what is typed meanwhile belongs to the dialog.
 */
export function useModal(dialog: RefObject<HTMLElement | null>): (e: KeyboardEvent) => void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const box = dialog.current;
    (box?.querySelector<HTMLElement>("input:not([type=checkbox])") ?? box)?.focus();
    return () => {
      if (before instanceof HTMLElement && document.body.contains(before)) before.focus();
    };
  }, []);
  return (e) => {
    const box = dialog.current;
    if (e.key !== "Tab" || !box) return;
    e.preventDefault();
    const stops = focusable(box);
    const at = stops.indexOf(document.activeElement as HTMLElement);
    const to = e.shiftKey ? (at > 0 ? at : stops.length) - 1 : (at + 1) % stops.length;
    (stops[to] ?? box).focus();
  };
}
