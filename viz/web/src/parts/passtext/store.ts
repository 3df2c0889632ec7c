/** The compiler's own texts of the pass that is looked at. Asks only while they are shown. */
import { computed, signal } from "@preact/signals";
import type { PassTexts } from "../../data/messages/bundle";
import { data } from "../../state/actions";
import { bundle, currentRow, step, stepCount, timeline, view } from "../../state/state";
import { Watched } from "../../state/watched";
import { placeOfNode } from "../../model/slots";
import { textLines } from "./lines";

/** How many views show them. */
export const seen = signal(0);

/** Whether the pass in the view has any. */
export const hasTexts = computed(() => currentRow.value?.text === true);

/** Whether the panel of sources shows them rather than the texts of the kernel. */
export const besideGraphs = signal(true);

export const watchedTexts = new Watched<PassTexts>(
  "api/pass-texts",
  () => seen.value > 0 && hasTexts.value,
  (abort) => data().passTexts(view.peek().rewrite!, abort),
  undefined,
  () => String(hasTexts.value && view.value.rewrite),
);

/** Those of the pass in the view; null until they have arrived. */
export const texts = computed(() => {
  const found = watchedTexts.answer.value;
  return found?.rewrite === view.value.rewrite ? found : null;
});

/** A line that was searched for and is to be brought into view, from 1. */
export const sought = signal<{ rewrite: number; when: string; line: number } | null>(null);

export const lines = computed(() => (texts.value ? textLines(texts.value) : []));

/** The nodes that the selected slot holds in the course of the pass. */
export const selected = computed<ReadonlySet<number>>(() => {
  const { slot } = view.value;
  const t = timeline.value;
  const b = bundle.value;
  const found = new Set<number>();
  if (slot === null || !t || !b || t.bundle !== b) return found;
  for (let v = t.first[slot] ?? 0; v < (t.first[slot + 1] ?? 0); v++)
    found.add(b.nodes.id[t.node[v]!] ?? -1);
  return found;
});

/** The slot that a line stands for, and the step at which it does; null where that is not known. */
export function placeOfLine(nodes: readonly number[], isBefore: boolean): number | null {
  const t = timeline.peek();
  if (!t || t.bundle !== bundle.peek()) return null;
  const at = isBefore ? Math.max(0, step.peek() - 1) : stepCount.peek();
  for (const node of nodes) {
    const place = placeOfNode(t, node, at);
    if (place) return place.slot;
  }
  return null;
}
