/** From the timeline to the graphs: the pass, or the kernel of a launch. */
import { computed } from "@preact/signals";
import { announce, openContext, openRewrite, setPage } from "../../state/actions";
import { rows } from "../../state/state";
import type { Row } from "../../data/messages/run";
import { picked, timelineData } from "./store";
import { pickedName } from "./data/pick";
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

/** Opens what is picked in the graphs. */
export function openPicked(): void {
  const p = picked.peek();
  const name = pickedName(timelineLink.peek().pick);
  if (p?.entry != null) openRow(rowOf(p.entry));
  else if (p || name) openRow(kernelNamed(p?.name ?? name ?? ""));
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
