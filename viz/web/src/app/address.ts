/**
 * The address bar follows the view: for reload, Back and copied links. A held arrow key changes the
 * view more often than browsers let a page write its address (Chromium drops what exceeds 200 times
 * in 10 s), so replacements keep a distance in time; the last one always arrives. Writing takes
 * milliseconds, and so never happens between a key and its frame.
 */

const DISTANCE_MS = 120;

let pending: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** A new entry of the history. */
export function pushAddress(url: string): void {
  flushAddress();
  history.pushState(null, "", url);
}

/** The current entry gets another address, in a moment. */
export function replaceAddress(url: string): void {
  pending = url;
  timer ??= setTimeout(flushAddress, DISTANCE_MS);
}

/** Writes what waits: before the address is read, and before the page goes away. */
export function flushAddress(): void {
  clearTimeout(timer);
  timer = undefined;
  if (pending === null) return;
  history.replaceState(null, "", pending);
  pending = null;
}

/** Forgets what waits: the browser went to another entry. */
export function dropAddress(): void {
  pending = null;
}
