/** What is open in the navigator, and the lines that follow. No DOM. */
import { computed, effect, signal } from "@preact/signals";
import { changedOnly } from "../../state/prefs";
import {
  arrived,
  currentRow,
  currentSubject,
  subjectRowOf,
  filtered,
  passing,
  rows,
  step,
  stepCount,
  unreadable,
  view,
} from "../../state/state";
import { ancestry, childrenOf, kindOfRow, stepsInside } from "../../data/rows";
import type { Row } from "../../data/messages/run";
import { choices } from "../../parts/kernel/passes";
import { compiling } from "../../parts/kernel/kernel";
import { short } from "../../state/format";
import { foldTree, rowKey, subjectLines, type Line } from "./fold";

/** Keys of open lines. Only grows by itself (the way to the current pass): nothing folds unasked. */
export const openKeys = signal<ReadonlySet<string>>(new Set());
/** Key of the line that the keyboard is on. */
export const cursor = signal<string | null>(null);

/** The step whose line is marked: of the pass in the view, loaded or not. */
export const markedStep = computed(() => (arrived.value ? step.value : (view.value.step ?? 1)));

export const lines = computed<Line[]>(() => {
  const of = currentSubject.value;
  const input = {
    rows: rows.value,
    children: children.value,
    root: of?.row ?? -1,
    open: openKeys.value,
    changedOnly: changedOnly.value,
    current: view.value.rewrite,
    steps: filtered.value ? (arrived.value ? passing.value : []) : allSteps.value,
    step: markedStep.value,
    filtered: filtered.value && arrived.value,
  };
  if (of?.label === "kernel")
    return subjectLines(input, of.arch ? `Ran: ${short(of.arch, 40)}` : "Ran", others.value);
  if (of) return subjectLines(input, short(kindOfRow(of), 40), []);
  // Passes that stand in no context; and what there is, while nothing is looked at.
  const isLoose = currentRow.value !== null;
  const top = input.children(-1).filter((at) => !isLoose || subjectRowOf.value[at] === -1);
  return foldTree({ ...input, children: (at) => (at === -1 ? top : input.children(at)) });
});

/** Targets that the kernel has not been compiled for, but can be. */
const others = computed(() =>
  choices.value
    .filter((choice) => !choice.root)
    .map(({ target }) => ({
      target,
      state: compiling.value.get(target)?.state === "running" ? "compiling" : "compile",
    })),
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

export function setOpen(key: string, open: boolean): void {
  if (openKeys.peek().has(key) === open) return;
  const next = new Set(openKeys.peek());
  if (open) next.add(key);
  else next.delete(key);
  openKeys.value = next;
}

/** Opens the roots once they arrive, and the way to the current pass when it changes, to which the
 * keyboard goes, too. */
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
    // Left and Right step where the keyboard is on the pass that is shown: it goes along, as with ].
    if (cursor.peek() !== null) cursor.value = rowKey(row.row);
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
