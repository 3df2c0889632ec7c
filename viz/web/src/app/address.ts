/**
 * The address bar follows the view: for reload, Back and copied links. A held arrow key changes the
 * view more often than browsers let a page write its address (Chromium drops what exceeds 200 times
 * in 10 s), so replacements keep a distance in time; the last one always arrives. Writing takes
 * milliseconds, and so never happens between a key and its frame.
 * An entry that is left by a jump keeps what its panes looked at, so that Back can look there again.
 */

const DISTANCE_MS = 120;

let pending: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

let lookedAt: () => unknown = () => null;

/** Who knows what the panes look at; plain data, or null. */
export function rememberWith(look: () => unknown): void {
  lookedAt = look;
}

/** What the panes look at now. */
export const looking = (): unknown => lookedAt();

/** A new entry of the history; `left` is what the panes looked at in the present one. */
export function pushAddress(url: string, left: unknown): void {
  flushAddress();
  history.replaceState(left, "", location.href);
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
