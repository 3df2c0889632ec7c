/**
 * Where the focus goes when what had it leaves the page: to what stands in its place, in the same
 * region. Without this a keyboard would begin anew at the top after each filter that it takes away.
 */
import { focusable } from "../state/regions";

interface Held {
  element: HTMLElement;
  region: HTMLElement;
  /** Its place among what takes the focus in the region. */
  at: number;
}

let held: Held | null = null;

/** Follows the focus from now on. */
export function keepFocus(): void {
  addEventListener("focusin", remember);
  for (const event of ["keyup", "click"]) addEventListener(event, restore);
}

function remember({ target }: FocusEvent): void {
  held = null;
  if (!(target instanceof HTMLElement)) return;
  const region = target.closest<HTMLElement>("[data-region]");
  if (region) held = { element: target, region, at: focusable(region).indexOf(target) };
}

/** After the page was drawn anew. */
function restore(): void {
  const lost = held;
  if (!lost) return;
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body || lost.element.isConnected) return;
    const there = focusable(lost.region);
    there[Math.max(0, Math.min(lost.at, there.length - 1))]?.focus();
  });
}
