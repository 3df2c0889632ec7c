/** Steps that the reader has marked, pass by pass; as long as the page is open. */
import { computed, signal } from "@preact/signals";
import { announce, goStep } from "../../state/actions";
import { count } from "../../state/format";
import { runKey, step, view } from "../../state/state";

/** By run and pass, ascending. */
const all = signal<ReadonlyMap<string, readonly number[]>>(new Map());

const here = computed(() => `${runKey.value} ${view.value.rewrite ?? ""}`);

/** Those of the pass that is looked at, ascending. */
export const marked = computed<readonly number[]>(() => all.value.get(here.value) ?? []);

/** Marks the step that is looked at, or takes its mark away. */
export function markStep(): void {
  const k = step.peek();
  const now = marked.peek();
  const next = now.includes(k) ? now.filter((m) => m !== k) : [...now, k].sort((a, z) => a - z);
  all.value = new Map(all.peek()).set(here.peek(), next);
  announce(next.length > now.length ? `Step ${count(k)} is marked` : `Mark of step ${count(k)} removed`);
}

/** Goes to the next mark of the pass; after the last one comes the first. */
export function nextMark(): void {
  const now = marked.peek();
  const next = now.find((k) => k > step.peek()) ?? now[0];
  if (next !== undefined) goStep(next);
}
