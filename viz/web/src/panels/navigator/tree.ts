/** What is open in the navigator, and the lines that follow. No DOM. */
import { computed, effect, signal } from "@preact/signals";
import { changedOnly } from "../../state/prefs";
import {
  arrived,
  currentRow,
  filtered,
  passing,
  rows,
  step,
  stepCount,
  unreadable,
  view,
} from "../../state/state";
import { ancestry, childrenOf, stepsInside } from "../../data/rows";
import type { Row } from "../../data/messages/run";
import { foldTree, rowKey, type Line } from "./fold";

/** Keys of open lines. Only grows by itself (the way to the current pass): nothing folds unasked. */
export const openKeys = signal<ReadonlySet<string>>(new Set());
/** Key of the line that the keyboard is on. */
export const cursor = signal<string | null>(null);

/** The step whose line is marked: of the pass in the view, loaded or not. */
export const markedStep = computed(() => (arrived.value ? step.value : (view.value.step ?? 1)));

export const lines = computed<Line[]>(() =>
  foldTree({
    rows: rows.value,
    children: children.value,
    open: openKeys.value,
    changedOnly: changedOnly.value,
    current: view.value.rewrite,
    steps: filtered.value ? (arrived.value ? passing.value : []) : allSteps.value,
    step: markedStep.value,
    filtered: filtered.value && arrived.value,
  }),
);

const children = computed(() => childrenOf(rows.value));
/** Steps that a folded pass hides with the passes inside it. */
export const inside = computed(() => stepsInside(rows.value));
/** As many as the run says the pass has, until the pass itself is here. */
const allSteps = computed(() => {
  const told = unreadable.value ? 0 : (currentRow.value?.steps ?? 0);
  const length = arrived.value ? stepCount.value : told;
  return Array.from({ length }, (_, i) => i + 1);
});

/** Whether kernels were compiled for several targets: then each says for which. */
export const severalTargets = computed(
  () => new Set(rows.value.flatMap((row) => row.arch || [])).size > 1,
);

/** Milliseconds of the slowest child of each row's parent, for the bars. */
export const slowest = computed(() => {
  const most = new Map<number, number>();
  for (const row of rows.value)
    if (!row.target) most.set(row.parent, Math.max(most.get(row.parent) ?? 0, row.ms));
  return most;
});

export function setOpen(key: string, open: boolean): void {
  if (openKeys.peek().has(key) === open) return;
  const next = new Set(openKeys.peek());
  if (open) next.add(key);
  else next.delete(key);
  openKeys.value = next;
}

/** Opens the roots once they arrive, and the way to the current pass when it changes. */
export function startTree(): void {
  let rootsSeen = false;
  effect(() => {
    const all = rows.value;
    if (rootsSeen || !all.length) return;
    rootsSeen = true;
    const roots = all.filter((r) => r.parent < 0 && r.kind === "context");
    if (roots.length <= 3) for (const root of roots) setOpen(rowKey(root.row), true);
  });
  let opened: number | null = null;
  effect(() => {
    const row = currentRow.value;
    if (!row || opened === row.row) return;
    opened = row.row;
    openKeys.value = new Set([
      ...openKeys.peek(),
      ...ancestry(rows.peek(), row.row).map((r) => rowKey(r.row)),
    ]);
  });
}

export function unfoldAll(): void {
  openKeys.value = new Set(
    rows
      .peek()
      .filter((r: Row) => children.peek()(r.row).length > 0)
      .map((r) => rowKey(r.row)),
  );
}

/** Folds all but the way to the current pass. */
export function foldAll(): void {
  const row = currentRow.peek();
  openKeys.value = new Set(row ? ancestry(rows.peek(), row.row).map((r) => rowKey(r.row)) : []);
}
