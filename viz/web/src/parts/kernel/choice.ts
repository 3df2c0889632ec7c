/** How many sources stand side by side, and which of them make room for a further one. */
import { computed, signal } from "@preact/signals";
import type { Kind } from "../../data/messages/run";
import { windowWidth } from "../../state/state";
import { kindOf } from "./columns";
import { PYTHON } from "./userText";

/** Below this width of the window there are three columns at most. */
const WIDE = 1440;
/** From this width on there are four from the start. */
const WIDEST = 1600;

/** As many columns as can be read side by side. */
export const mostColumns = computed(() => (windowWidth.value < WIDE ? 3 : 4));
/** As many as the page shows by itself. */
export const usualColumns = computed(() => (windowWidth.value < WIDEST ? 3 : 4));
/** Keys of columns that were used, the latest one last. */
export const usedColumns = signal<readonly string[]>([]);

/** The column that has to make room first: used longest ago; of those never used, the last one. */
function oldest(keys: readonly string[], used: readonly string[]): string | undefined {
  return keys.findLast((key) => !used.includes(key)) ?? used.find((key) => keys.includes(key));
}

/** As many columns as there is room for, in their order. */
export function withRoom(
  keys: readonly string[],
  used: readonly string[],
  most: number,
): readonly string[] {
  let kept = keys;
  while (kept.length > most) {
    const gone = oldest(kept, used);
    kept = kept.filter((key) => key !== gone);
  }
  return kept;
}

/** Columns with one more, in place of the one used longest ago where there is no room. */
export function withColumn(
  keys: readonly string[],
  key: string,
  used: readonly string[],
  most: number,
): readonly string[] {
  return keys.includes(key) ? keys : [...withRoom(keys, used, most - 1), key];
}

/** The user's lines first, then as the kinds are listed; what is of no known kind stays in front. */
export function inOrder(keys: readonly string[], kinds: readonly Kind[]): string[] {
  const rank = (key: string): number =>
    kindOf(key) === PYTHON ? -2 : kinds.findIndex(({ kind }) => kind === kindOf(key));
  return [...keys].sort((x, y) => rank(x) - rank(y));
}
