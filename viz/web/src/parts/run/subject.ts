/**
 * The subject: kernel, pass and step are one thing, which every page shows. The pass of the view says
 * the kernel; where a page or a link names another one, the pass follows.
 */
import { effect, untracked } from "@preact/signals";
import { ancestry } from "../../data/rows";
import type { Row } from "../../data/messages/run";
import { firstPass, go } from "../../state/actions";
import {
  currentKernel,
  currentRow,
  kernelOfPass,
  namedKernel,
  rows,
  rowsArrived,
  view,
} from "../../state/state";

/** Lets the pass follow the kernel that is named. Call once. */
export function keepSubject(): void {
  effect(() => {
    const named = namedKernel.value;
    if (named === null || !rowsArrived.value || kernelOfPass.value?.id === named) return;
    const row = currentKernel.value;
    if (!row) return;
    untracked(() => openPass(firstPass(row.row)));
  });
}

/** Whether what is looked at is a row, or stands in it. */
export function isWithin(row: Row): boolean {
  const now = currentRow.peek();
  return now !== null && ancestry(rows.peek(), now.row).includes(row);
}

/** Makes a kernel, a schedule or a pass the subject: the reader has picked it on a page that is about
 * other things, and stays there. */
export function lookAt(row: Row): void {
  if (isWithin(row)) return;
  const pass = row.kind === "rewrite" ? row.id : firstPass(row.row);
  if (pass !== null) openPass(pass);
}

function openPass(pass: number | null): void {
  if (pass !== view.peek().rewrite)
    go({ rewrite: pass, step: null, slot: null, uid: null, node: null }, "replace");
}
