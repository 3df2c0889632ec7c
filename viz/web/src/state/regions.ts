/** F6 walks the regions of the page in reading order. */
import { announce } from "./actions";

const FOCUSABLE =
  'button:not(:disabled, [tabindex="-1"]), [href], input, select, textarea, summary, [tabindex="0"]';

/** What of a region takes the focus, in reading order. */
export function focusable(region: HTMLElement): HTMLElement[] {
  return [...region.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (el) => el.offsetParent !== null && el.role !== "separator",
  );
}

/** Moves the focus to the next (or previous) visible region, to the first thing that takes it. */
export function focusRegion(direction: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter(
    (el) => el.offsetParent !== null && getComputedStyle(el).visibility !== "hidden",
  );
  if (!regions.length) return;
  const at = regions.findLastIndex((el) => el.contains(document.activeElement));
  const next = regions[(at + direction + regions.length) % regions.length]!;
  const target = focusable(next)[0];
  if (target) target.focus();
  else {
    next.tabIndex = -1;
    next.focus();
  }
  announce(next.dataset.region ?? "");
}

/** Puts the focus into a text field, with its text selected. */
export function focusField(selector: string): void {
  const input = document.querySelector<HTMLInputElement>(selector);
  input?.focus();
  input?.select();
}

/** Presses a button for the keyboard: the focus goes to what it opens, and back to it afterwards. */
export function pressButton(selector: string): void {
  const button = document.querySelector<HTMLButtonElement>(selector);
  button?.focus();
  button?.click();
}
