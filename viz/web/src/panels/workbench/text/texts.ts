/** The texts of the workbench: compiled while it is open, and the difference to the original. */
import { computed, effect } from "@preact/signals";
import { columnKey, kindOf, targetOf } from "../../../parts/kernel/columns";
import { canCompile, compile, compiling, kernelArtifacts } from "../../../parts/kernel/kernel";
import { beginEdit, deviceFor, editOf } from "../../../parts/source/edits";
import { lineDiff } from "../../../parts/source/lineDiff";
import { bench } from "../bench";
import { goWorkbench, type Shown } from "../link";
import { column, compilesFor, isOpen } from "../where";

/** Both texts of the column that is shown: an edit, or what the last run compiled otherwise. */
export const both = computed<{ base: string; text: string } | null>(() => {
  const key = column.value;
  if (key === null) return null;
  const edit = editOf(key);
  if (edit) return edit;
  const found = bench.value?.result;
  if (!found || found.target !== targetOf(key) || found.edited.kind !== kindOf(key)) return null;
  if (bench.value?.how.source) return null; // discarded since
  return { base: found.original.text, text: found.edited.text };
});

/** How many lines were added and removed. */
export const changes = computed(() => {
  const texts = both.value;
  const lines = texts && texts.base !== texts.text ? lineDiff(texts.base, texts.text) : [];
  const of = (kind: string): number => lines.filter((line) => line.kind === kind).length;
  return { added: of("add"), removed: of("del") };
});

/** Shows the original, the edited text, which begins as the original, or their difference. */
export function showText(text: Shown): void {
  const key = column.peek();
  goWorkbench({ text });
  if (text === "edited" && key !== null && !both.peek() && deviceFor(key) !== null) beginEdit(key);
}

/** Begins to edit the text that is shown, or the one that can be. */
export function editText(): void {
  const key = column.peek();
  if (key === null || deviceFor(key) === null) return;
  goWorkbench({ text: "edited" });
  beginEdit(key);
}

/** Compiles for the target while the page is open. */
export function startTexts(): void {
  effect(() => {
    const key = column.value;
    if (!isOpen.value || key === null || !compilesFor(targetOf(key))) return;
    const target = targetOf(key);
    const here = kernelArtifacts.value.some((a) => columnKey(a) === key);
    if (!here && canCompile(target) && !compiling.value.has(target)) compile(target);
  });
}
