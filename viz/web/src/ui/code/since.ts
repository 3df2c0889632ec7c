/**
 * How the files and rules of the run have changed since, and who made it. Asked once the page has
 * drawn something, and again when the program has ended or the reader comes back to the page: files
 * change in an editor beside it.
 */
import { computed, effect, signal } from "@preact/signals";
import { data } from "../../state/actions";
import { isLive, runKey } from "../../state/state";
import type { FileState, RuleToday, Since } from "../../data/messages/run";

/** After the run is there, ms: its first view comes before. */
const ASK_AFTER_MS = 500;

const UNKNOWN: Since = { maker: null, files: [], rules: [], compared: 0, notes: [] };

/** null: not known yet. */
export const since = signal<Since | null>(null);

const states = computed(() => new Map(since.value?.files.map((one) => [one.file, one.state])));
const rulesToday = computed(() => new Map(since.value?.rules.map((one) => [one.rule, one])));

/** How a file has changed, by its name as places show it; null where that is not known. */
export const stateOf = (file: string): FileState | null => states.value.get(file) ?? null;
/** How a rule has changed. */
export const ruleToday = (rule: number): RuleToday | null => rulesToday.value.get(rule) ?? null;

/**
 * Whether kernels may be compiled before anybody asks for it: those of runs that this version of
 * the compiler made here. null: not known yet.
 */
export const compilesUnasked = computed(() => {
  const found = since.value;
  if (!found) return null;
  return found.maker !== null && found.maker.own && found.maker.same && found.maker.here;
});

/** Against which state a file or rule was compared. */
export const compared = (): string => (data().server ? "now" : "when this file was exported");

/** "file changed since" of one or several files; "" where all are as they were. */
export function saidOf(files: readonly string[]): string {
  const found = new Set(files.map(stateOf));
  if (found.has("changed")) return "file changed since";
  return found.has("gone") ? "file gone since" : "";
}

export function startSince(): void {
  let asking: AbortController | null = null;
  const ask = async (): Promise<void> => {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      const found = await data().since(mine.signal);
      if (!mine.signal.aborted) since.value = found;
    } catch {
      // Nothing is said then; what the page shows does not depend on it.
      if (!mine.signal.aborted) since.value = UNKNOWN;
    }
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    asking?.abort();
    clearTimeout(timer);
    since.value = null;
    if (runKey.value) timer = setTimeout(() => void ask(), ASK_AFTER_MS);
  });
  let wasLive = false;
  effect(() => {
    const ended = wasLive && !isLive.value;
    wasLive = isLive.value;
    if (ended) void ask();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && since.peek() && data().server) void ask();
  });
  addEventListener("focus", () => {
    if (since.peek() && data().server) void ask();
  });
}
