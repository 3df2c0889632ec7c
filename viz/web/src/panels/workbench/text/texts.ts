/**
 * The texts of the workbench, compiled while it is open: the original's, and that of the kernel as it
 * is changed; the difference of both.
 */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../../data/backend";
import { follow } from "../../../data/jobs";
import type { ApiProblem } from "../../../data/messages/job";
import type { ChangedTexts } from "../../../data/messages/trials/workbench";
import { columnKey, kindOf, targetOf } from "../../../parts/kernel/columns";
import {
  canCompile,
  compilable,
  compile,
  compiling,
  kernel,
  kernelArtifacts,
} from "../../../parts/kernel/kernel";
import { beginEdit, deviceFor, editOf } from "../../../parts/source/edits";
import { lineDiff } from "../../../parts/source/lineDiff";
import { data } from "../../../state/actions";
import { runKey } from "../../../state/state";
import { goWorkbench, type Shown, workbenchLink } from "../link";
import { artifact, column, compilesFor, isOpen } from "../where";

type Made =
  | { state: "making" }
  | { state: "made"; texts: ChangedTexts["texts"] }
  | { state: "error"; error: ApiProblem };

/** What compiling the kernel as it is changed gives; null where optimisations and rules are the compiler's. */
export const made = signal<Made | null>(null);

/** The text of the changed kernel in the column that is shown; null where there is none. */
export const changedText = computed(() => {
  const now = made.value;
  const key = column.value;
  if (now?.state !== "made" || key === null) return null;
  return now.texts.find((one) => one.kind === kindOf(key)) ?? null;
});

/** Both texts of the column that is shown: an edit, or the text of the changed kernel. */
export const both = computed<{ base: string; text: string } | null>(() => {
  const key = column.value;
  if (key === null) return null;
  const edit = editOf(key);
  if (edit) return edit;
  const [original, changed] = [artifact.value, changedText.value];
  return original && changed ? { base: original.text, text: changed.text } : null;
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
  if (text === "edited" && key !== null && !made.peek() && deviceFor(key) !== null)
    beginEdit(key);
}

/** Whether the text of the kernel as it is now can be edited: that of a changed one once it is there. */
export const canEdit = (): boolean => {
  const key = column.value;
  return (
    key !== null && deviceFor(key) !== null && (made.value === null || changedText.value !== null)
  );
};

/** Begins to edit the text of the kernel as it is now. */
export function editText(): void {
  const key = column.peek();
  if (key === null || !canEdit()) return;
  goWorkbench({ text: "edited" });
  beginEdit(key, changedText.peek()?.text ?? null);
}

const MAKE_AFTER_MS = 250;

/** Compiles the changed kernel, a moment after the last change, while the page is open. */
function startMade(): void {
  let job: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const about = computed(() => {
    const [key, context] = [column.value, kernel.value?.context];
    const { opts, skip } = workbenchLink.value;
    if (!isOpen.value || key === null || context === undefined) return "";
    if (opts === null && !skip.length) return "";
    const target = targetOf(key);
    if (!compilable.value.includes(target) || !compilesFor(target)) return "";
    return JSON.stringify([runKey.value, context, target, opts, skip]);
  });
  effect(() => {
    job?.abort();
    clearTimeout(timer);
    const { server } = data();
    if (!about.value || !server) {
      made.value = null;
      return;
    }
    const [, context, target, opts, skip] = JSON.parse(about.value) as [
      string,
      number,
      string,
      string | null,
      string[],
    ];
    const mine = (job = new AbortController());
    made.value = { state: "making" };
    timer = setTimeout(() => {
      const start = (): Promise<number> => server.changedTexts(context, target, opts, skip);
      follow<ChangedTexts>(server, start, () => undefined, mine.signal)
        .then((found) => {
          if (!mine.signal.aborted) made.value = { state: "made", texts: found.texts };
        })
        .catch((thrown: unknown) => {
          if (!isAbort(thrown) && !mine.signal.aborted)
            made.value = { state: "error", error: asProblem(thrown, `kernel ${context}`) };
        });
    }, MAKE_AFTER_MS);
  });
}

/** Compiles for the target while the page is open. */
export function startTexts(): void {
  startMade();
  effect(() => {
    const key = column.value;
    if (!isOpen.value || key === null || !compilesFor(targetOf(key))) return;
    const target = targetOf(key);
    const here = kernelArtifacts.value.some((a) => columnKey(a) === key);
    if (!here && canCompile(target) && !compiling.value.has(target)) compile(target);
  });
}
