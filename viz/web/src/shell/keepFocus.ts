/**
 * Where the focus goes when what had it leaves the page: to what stands in its place, in the same
 * region. Without this a keyboard would begin anew at the top after each filter that it takes away,
 * and when an export that it started shows its progress.
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
  addEventListener("pointerdown", () => (held = null), true); // a click elsewhere is a wish
  new MutationObserver(restore).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["disabled"],
  });
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
  if (!lost || (lost.element.isConnected && !lost.element.matches(":disabled"))) return;
  held = null;
  requestAnimationFrame(() => {
    const now = document.activeElement;
    if (now !== document.body && now !== lost.element) return;
    const there = focusable(lost.region);
    there[Math.max(0, Math.min(lost.at, there.length - 1))]?.focus();
  });
}
