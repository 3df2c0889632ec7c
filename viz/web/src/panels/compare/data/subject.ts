/** The subject on this page: what is selected here is what the other pages show, and the other way round. */
import { effect, untracked } from "@preact/signals";
import type { LinkChange } from "../../../state/link/part";
import { lookAt } from "../../../parts/run/subject";
import { currentSubject, rewriteRows, rowsArrived, subjectRowOf } from "../../../state/state";
import { compareLink, numbersOf } from "./link";
import { comparison, isOpen, keyOfScope, rowOfScope, scope, shownSide } from "./store";

/** Makes what is selected the subject; what is selected by default only where there is none. */
export function startSubject(): void {
  effect(() => {
    const now = scope.value;
    const named = compareLink.value.scope;
    if (!isOpen() || !rowsArrived.value || !now) return;
    const isChosen = named === keyOfScope(now);
    if (!isChosen && (!comparison.value?.done || currentSubject.peek())) return;
    const row = rowOfScope(now);
    if (row) untracked(() => lookAt(row));
  });
}

/** What is selected of another subject gives way to that of the subject. */
export function enter(): readonly LinkChange[] {
  const side = shownSide.peek();
  const subject = currentSubject.peek();
  const { scope: named, walk } = compareLink.peek();
  if (side === null || !subject) return [];
  const own = (pair: string): number => numbersOf(pair)[side === "a" ? 0 : 1];
  const isOther = named !== null && own(named) !== 0 && own(named) !== subject.id;
  const walked = walk === null ? undefined : rewriteRows.peek().get(own(walk));
  const leaves = walked !== undefined && subjectRowOf.peek()[walked.row] !== subject.row;
  if (!isOther && !leaves) return [];
  return [
    compareLink.with({
      scope: null,
      sources: null,
      walk: null,
      row: null,
      states: null,
      slot: null,
    }),
  ];
}
