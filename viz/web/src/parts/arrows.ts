/**
 * Arrow keys in a table or list: up and down to the same place of the next line, left and right
 * along a line, Home and End to the first and last. A line is marked with `data-line`; its places are
 * its links and buttons.
 */
const PLACES = "a[href], button:not(:disabled)";

/** For `onKeyDown` of what holds the lines. */
export function onArrows(e: KeyboardEvent): void {
  if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
  const list = e.currentTarget as HTMLElement;
  const from = (e.target as HTMLElement).closest<HTMLElement>("[data-line]");
  if (!from || !list.contains(from)) return;
  const lines = [...list.querySelectorAll<HTMLElement>("[data-line]")];
  const places = [...from.querySelectorAll<HTMLElement>(PLACES)];
  const to = target(
    e.key,
    lines.indexOf(from),
    lines.length,
    places.indexOf(e.target as HTMLElement),
  );
  if (!to) return;
  const line = lines[to.line]!.querySelectorAll<HTMLElement>(PLACES);
  const place = line[Math.min(Math.max(to.place, 0), line.length - 1)];
  if (!place) return;
  e.preventDefault();
  e.stopPropagation();
  place.focus();
  place.scrollIntoView({ block: "nearest" });
}

/** Where a key leads from a place of a line; null: nowhere. Pure. */
export function target(
  key: string,
  line: number,
  lines: number,
  place: number,
): { line: number; place: number } | null {
  const within = (n: number): number => Math.max(0, Math.min(lines - 1, n));
  switch (key) {
    case "ArrowDown":
      return { line: within(line + 1), place };
    case "ArrowUp":
      return { line: within(line - 1), place };
    case "ArrowRight":
      return { line, place: place + 1 };
    case "ArrowLeft":
      return { line, place: place - 1 };
    case "Home":
      return { line: 0, place };
    case "End":
      return { line: lines - 1, place };
    default:
      return null;
  }
}

/** Left and right choose, as tabs do. */
export function onTabs(e: KeyboardEvent): void {
  const way = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (!way) return;
  e.preventDefault();
  e.stopPropagation();
  const tabs = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const next = tabs[(at + way + tabs.length) % tabs.length];
  next?.click();
  next?.focus();
}
