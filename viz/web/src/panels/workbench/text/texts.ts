/**
 * The texts of the workbench, compiled while it is open: the original's, and that of the kernel as it
 * is changed; the difference of both.
 */
import { computed, effect, signal, untracked } from "@preact/signals";
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
import { beginEdit, deviceFor, dropUnchanged, editOf } from "../../../parts/run/edits";
import { lineDiff } from "../../../parts/source/lineDiff";
import { type Choices, COMPILERS, sameChoices } from "../../../parts/kernel/versions";
import { announce, data } from "../../../state/actions";
import { run, runKey } from "../../../state/state";
import { goWorkbench, type Shown, workbenchLink } from "../data/link";
import { artifact, choices, column, compilesFor, isOpen } from "../data/where";

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

/** Whether the text of the device can be edited, and is not yet. */
export const canEdit = (): boolean => {
  const key = column.value;
  return key !== null && deviceFor(key) !== null && !editOf(key);
};

/** An edit is to begin once the changed kernel is compiled. */
export const waits = signal(false);

/** Begins to edit the text of the kernel as it is now; of one that is being compiled, once that is done. */
export function editText(): void {
  const key = column.peek();
  if (key === null || !untracked(canEdit)) return;
  goWorkbench({ text: "edited" });
  const [chosen, now] = [choices.peek(), made.peek()];
  waits.value = !sameChoices(chosen, COMPILERS) && now?.state !== "made";
  if (!waits.peek()) beginEdit(key, chosen, changedText.peek()?.text);
  else if (now?.state === "error") announce(`Nothing to edit: ${now.error.what}`);
  else announce("The text can be edited once the changed kernel is compiled");
}

/** Shows the original, the text of the kernel as it is changed, or their difference. Of a kernel that
 * is not changed, the original begins to be edited. */
export function showText(text: Shown): void {
  if (text === "edited" && sameChoices(choices.peek(), COMPILERS)) editText();
  goWorkbench({ text });
}

const MAKE_AFTER_MS = 250;

/** The texts of a kernel as it is changed: the compiler's of this machine, or what an exported file has. */
async function changedTexts(
  context: number,
  target: string,
  { opts, skip }: Choices,
  signal: AbortSignal,
): Promise<ChangedTexts> {
  const { server } = data();
  const silent = (): void => undefined;
  if (server) {
    const start = (): Promise<number> => server.changedTexts(context, target, opts, skip);
    return follow<ChangedTexts>(server, start, silent, signal);
  }
  const { made } = await data().shadersOf(context, { opts, skip }, silent, signal);
  return { target, texts: [{ kind: run.peek()?.browser?.kind ?? "", text: made.text, facts: [] }] };
}

/** Compiles the changed kernel, a moment after the last change, while the page is open. */
function startMade(): void {
  let job: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const about = computed(() => {
    const [key, context] = [column.value, kernel.value?.context];
    const { opts, skip } = choices.value;
    if (!isOpen.value || key === null || context === undefined) return "";
    if (opts === null && !skip.length) return "";
    const target = targetOf(key);
    const held = data().server === null && kindOf(key) === run.value?.browser?.kind;
    if (!held && !(compilable.value.includes(target) && compilesFor(target))) return "";
    return JSON.stringify([runKey.value, context, target, opts, skip]);
  });
  effect(() => {
    job?.abort();
    clearTimeout(timer);
    if (!about.value) {
      made.value = null;
      waits.value = false;
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
      changedTexts(context, target, { opts, skip }, mine.signal)
        .then((found) => {
          if (mine.signal.aborted) return;
          made.value = { state: "made", texts: found.texts };
          if (waits.peek()) editText();
        })
        .catch((thrown: unknown) => {
          if (isAbort(thrown) || mine.signal.aborted) return;
          made.value = { state: "error", error: asProblem(thrown, `kernel ${context}`) };
          waits.value = false;
        });
    }, MAKE_AFTER_MS);
  });
}

/** Compiles for the target while the page is open. */
export function startTexts(): void {
  startMade();
  effect(() => {
    const { opts, skip } = workbenchLink.value;
    if (isOpen.value && column.value !== null) dropUnchanged(column.value, { opts, skip });
  });
  effect(() => {
    const key = column.value;
    if (!isOpen.value || key === null || !compilesFor(targetOf(key))) return;
    const target = targetOf(key);
    const here = kernelArtifacts.value.some((a) => columnKey(a) === key);
    if (!here && canCompile(target) && !compiling.value.has(target)) compile(target);
  });
}
