/** What the reader set for this browser: theme, sizes, shown sources. Never part of a link. */
import { effect, signal, type Signal } from "@preact/signals";

const PREFIX = "uopviz.";

/** A signal that lives in localStorage; in memory only where storage is denied (file://). */
function kept<T>(key: string, otherwise: T, valid: (value: unknown) => value is T): Signal<T> {
  const kept = signal(otherwise);
  try {
    const text = localStorage.getItem(PREFIX + key);
    const value: unknown = text === null ? null : JSON.parse(text);
    if (valid(value)) kept.value = value;
  } catch {
    // Storage is denied or holds something else: the default stands.
  }
  let first = true;
  effect(() => {
    const text = JSON.stringify(kept.value);
    if (first) {
      first = false;
      return;
    }
    try {
      localStorage.setItem(PREFIX + key, text);
    } catch {
      // The choice then lasts as long as the page.
    }
  });
  return kept;
}

export type Theme = "system" | "light" | "dark";

/** Sizes in CSS pixels; null means the design's own. */
export interface Sizes {
  nav: number | null;
  insp: number | null;
  scrub: number | null;
  foot: number | null;
}

const isSizes = (v: unknown): v is Sizes =>
  typeof v === "object" &&
  v !== null &&
  ["nav", "insp", "scrub", "foot"].every((k) => {
    const size = (v as Record<string, unknown>)[k];
    return size === null || (typeof size === "number" && size > 0 && size < 4000);
  });
const isNames = (v: unknown): v is string[] | null =>
  v === null || (Array.isArray(v) && v.every((name) => typeof name === "string"));
const isFlag = (v: unknown): v is boolean => typeof v === "boolean";

export const theme = kept<Theme>("theme", "system", (v): v is Theme =>
  ["system", "light", "dark"].includes(v as string),
);
export const sizes = kept<Sizes>(
  "sizes",
  { nav: null, insp: null, scrub: null, foot: null },
  isSizes,
);
/** The sources at the foot of the graphs take half of the room; else one line each. */
export const sourcesHalf = kept("sourcesHalf", false, isFlag);
/** Keys of the source columns ("ptx:sm_90"); null: the page chooses. */
export const shownSources = kept<string[] | null>("sources", null, isNames);
/** Single letters act as commands. */
export const letterKeys = kept("letters", true, isFlag);
/** Constants are left out of "around change". */
export const foldConstants = kept("constants", false, isFlag);
/** Index expressions, and repeated blocks, are folded into boxes. */
export const foldIndex = kept("index", true, isFlag);
export const foldBlocks = kept("blocks", true, isFlag);
export const changedOnly = kept("changed", true, isFlag);
