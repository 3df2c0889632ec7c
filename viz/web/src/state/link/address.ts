/**
 * The address bar follows the view: for reload, Back and copied links. A held arrow key changes the
 * view more often than browsers let a page write its address (Chromium drops what exceeds 200 times
 * in 10 s), so replacements keep a distance in time; the last one always arrives. Writing takes
 * milliseconds, and so never happens between a key and its frame.
 * Every entry of the history has a number, and what the panes looked at when it was left is kept
 * with it, so that Back and Forward can look there again. An entry that was left by a jump keeps it
 * through a reload, too.
 */

const DISTANCE_MS = 120;

/** What an entry of the history holds; older versions of the page may have left anything. */
interface Entry {
  place: number;
  looked: unknown;
}

const entry = (): Partial<Entry> => (history.state as Partial<Entry> | null) ?? {};

/** What an address is written as: a frame without one (`srcdoc`) has fragments of `about:srcdoc`, and
 * a fragment alone would be one of the notebook that it is in. */
export function written(url: string): string {
  if (location.protocol !== "about:") return url;
  const at = url.indexOf("#");
  return `about:${location.pathname}${at < 0 ? "" : url.slice(at)}`;
}

let pending: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

let lookedAt: () => unknown = () => null;

/** The number of the present entry, and what was looked at in those that were left. */
let place = -1;
const left = new Map<number, unknown>();

/** Who knows what the panes look at; plain data, or null. */
export function rememberWith(look: () => unknown): void {
  lookedAt = look;
}

/** What the panes look at now. */
export const looking = (): unknown => lookedAt();

/** A new entry of the history; `looked` is what the panes looked at in the present one. */
export function pushAddress(url: string, looked: unknown): void {
  flushAddress();
  history.replaceState({ place, looked }, "", location.href);
  left.set(place, looked);
  place += 1;
  for (const other of left.keys()) if (other >= place) left.delete(other);
  history.pushState({ place, looked: null }, "", written(url));
  keepAddress();
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
  history.replaceState({ place, looked: null }, "", written(pending));
  pending = null;
  keepAddress();
}

/** A frame in a notebook, by its name: the notebook keeps the address of each. */
const frame = (): string =>
  location.protocol === "about:" && parent !== window && window.name.startsWith("uopviz-")
    ? window.name
    : "";

function keepAddress(): void {
  if (frame()) parent.postMessage({ uopviz: frame(), address: location.hash }, "*");
}

/** How long a notebook may take to say where a frame was. */
const ANSWER_MS = 300;

/** Goes where a frame of a notebook was that was taken away, as on scrolling; elsewhere, at once. */
export async function resumeAddress(): Promise<void> {
  const name = frame();
  if (!name || location.hash) return;
  const hash = await new Promise<string>((resolve) => {
    addEventListener("message", ({ data, source }: MessageEvent<unknown>) => {
      const said = data as { uopviz?: unknown; address?: unknown } | null;
      if (source === parent && said?.uopviz === name) resolve(String(said.address));
    });
    parent.postMessage({ uopviz: name }, "*");
    setTimeout(() => resolve(""), ANSWER_MS);
  });
  if (hash.startsWith("#")) history.replaceState(null, "", written(hash));
}

/**
 * The page was opened, or the browser went to another entry: keeps what was looked at in the one
 * that it left, and forgets what waits. Before anything else follows the new address.
 */
export function changeEntry(): void {
  pending = null;
  const to = entry().place;
  if (to === place) return;
  if (place >= 0) left.set(place, lookedAt());
  place = to ?? place + 1; // a link, or an address that was typed, is a new entry
  if (to === undefined) history.replaceState({ place, looked: null }, "", location.href);
}

/** What the panes looked at when the present entry was left; undefined if it never was. */
export const lookedHere = (): unknown => left.get(place) ?? entry().looked;
