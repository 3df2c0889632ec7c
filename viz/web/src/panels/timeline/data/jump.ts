/** From the timeline to the other pages: the pass, or the kernel of a launch, is their subject. */
import { computed, effect, untracked } from "@preact/signals";
import { announce, openContext, openRewrite, setPage } from "../../../state/actions";
import type { LinkChange } from "../../../state/link/part";
import { isWithin, lookAt } from "../../../parts/run/subject";
import { currentRow, currentSubject, rows, rowsArrived, view } from "../../../state/state";
import type { Row } from "../../../data/messages/run";
import { picked, timelineData } from "./store";
import { pickedName } from "./pick";
import { timelineLink } from "./link";

/** The row of a context or rewrite. */
export const rowOf = (entry: number): Row | undefined => rows.value.find((r) => r.id === entry);

/** Kernels by name; of several of one name the first. */
const kernels = computed(
  () =>
    new Map(
      rows.value
        .filter((r) => r.label === "kernel" && !r.target)
        .map((r) => [r.name, r] as const)
        .reverse(),
    ),
);

/** The kernel of that name; of several, the first. */
export const kernelNamed = (name: string): Row | undefined => kernels.value.get(name);

/** What is picked: a context, a pass, or the kernel that was launched; of several of its name the one
 * that is looked at. */
const pickedRow = computed<Row | undefined>(() => {
  const p = picked.value;
  if (p?.entry != null) return rowOf(p.entry);
  const name = p?.name ?? pickedName(timelineLink.value.pick);
  if (name === null) return undefined;
  const now = currentSubject.value;
  return now?.label === "kernel" && now.name === name ? now : kernelNamed(name);
});

/** Makes what is picked the subject. */
export function startSubject(): void {
  effect(() => {
    if (view.value.page !== "timeline" || !rowsArrived.value) return;
    const row = pickedRow.value;
    if (row) untracked(() => lookAt(row));
  });
}

/** What is picked of another subject gives way. */
export function enter(): readonly LinkChange[] {
  const { pick } = timelineLink.peek();
  if (pick === null || !currentRow.peek()) return [];
  const row = pickedRow.peek();
  const isKept = row ? isWithin(row) : timelineData.peek() !== null;
  return isKept ? [] : [timelineLink.with({ pick: null })];
}

/** Opens what is picked in the graphs. */
export function openPicked(): void {
  if (timelineLink.peek().pick !== null) openRow(pickedRow.peek());
}

export function openRow(row: Row | undefined): void {
  if (!row) announce("The run has no pass for it");
  else if (row.kind === "rewrite") openRewrite(row.id);
  else if (openContext(row.row)) setPage("graphs");
  else announce("No rewrites were recorded for it");
}

/** Whether there is anything picked that the graphs show. */
export const canOpen = (): boolean =>
  timelineData.value !== null && (picked.value !== null || pickedName(timelineLink.value.pick) !== null);
