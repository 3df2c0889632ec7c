/** The focus by keyboard: F6 walks the regions of the page in reading order; a search field moves in the
 * list that it searches. */
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

/**
 * For `onKeyDown` of a search field: up and down move in the list that has this id, and Enter opens
 * what stands there, without leaving the field; Escape clears the field, and an empty one is left.
 * In a dialog Escape closes that.
 */
export function onSearchKeys(
  list: string,
  query: string,
  clear: () => void,
): (e: KeyboardEvent) => void {
  return (e) => {
    const field = e.currentTarget as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape" && !field.closest("[role=dialog]")) {
      if (query) clear();
      else field.blur();
    } else if (LIST_KEYS.includes(e.key)) pressIn(document.getElementById(list), e.key);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
}

const LIST_KEYS: readonly string[] = ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Enter"];

/** A list with a cursor takes the key itself; of one with links, the first is what a key leads to. */
function pressIn(list: HTMLElement | null, key: string): void {
  if (list?.matches("[role=listbox], [role=tree]"))
    list.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  else {
    const first = list?.querySelector<HTMLElement>("[data-line] :is(a[href], button)");
    if (key === "Enter") first?.click();
    else if (key === "ArrowDown") first?.focus();
  }
}
