/**
 * The passes that a kernel can be looked at in: those that the program ran, and those of the
 * targets that it was, or can be, compiled for on request.
 */
import { computed, effect, signal, untracked } from "@preact/signals";
import { announce, openPasses } from "../../state/actions";
import { currentCompilation, currentKernel, rows } from "../../state/state";
import type { Artifact } from "../../data/messages/kernel";
import type { Row } from "../../data/messages/run";
import { compile, compiling, compilable, kernel } from "./kernel";

/** `root`: the row above the passes; null while the kernel has not been compiled for the target. */
export interface Choice {
  target: string;
  root: Row | null;
  own: boolean;
}

export const choices = computed<readonly Choice[]>(() => {
  const own = currentKernel.value;
  if (!own) return [];
  const compiled = rows.value.filter((r) => r.target && r.parent === own.row);
  const target = kernel.value?.target ?? "";
  const have = new Set([target, ...compiled.map((r) => r.target)]);
  return [
    { target, root: own, own: true },
    ...compiled.map((root) => ({ target: root.target!, root, own: false })),
    ...compilable.value
      .filter((t) => !have.has(t))
      .map((t) => ({ target: t, root: null, own: false })),
  ];
});

/** The choice in whose passes the current one is. */
export const chosen = computed<Choice | null>(() => {
  const root = currentCompilation.value ?? currentKernel.value;
  return choices.value.find((c) => c.root === root) ?? null;
});

/** A target whose passes are to be shown once the kernel has been compiled for it. */
const awaited = signal<{ kernel: number; target: string } | null>(null);

/** Shows the passes of a choice; compiles the kernel for its target first, where it must. */
export function showPasses(choice: Choice): void {
  const of = currentKernel.peek();
  if (choice.root) openPasses(choice.root);
  else if (of) {
    compile(choice.target);
    awaited.value = { kernel: of.id, target: choice.target };
    announce(`Compiling for ${choice.target}`);
  }
}

/** Follows what is awaited. Call once. */
export function startPasses(): void {
  effect(() => {
    const wish = awaited.value;
    if (!wish) return;
    const choice = choices.value.find((c) => c.target === wish.target && c.root);
    const job = compiling.value.get(wish.target);
    if (currentKernel.value?.id !== wish.kernel) awaited.value = null;
    else if (choice?.root) {
      const { root } = choice;
      awaited.value = null;
      untracked(() => openPasses(root));
    } else if (job?.state === "error") {
      awaited.value = null;
      announce(job.error.what);
    }
  });
}

/** The row above the passes that made a text, where these are not the ones that are shown. */
export function otherPasses(artifact: Artifact): Row | null {
  const made = artifact.passes ?? currentKernel.value?.id;
  const shown = currentCompilation.value ?? currentKernel.value;
  if (!shown || made === shown.id) return null;
  return rows.value.find((r) => r.kind === "context" && r.id === made) ?? null;
}

/** "r_32_16", or "r_32_16 for sm_90" of what was compiled on request. */
export function kernelName(row: Row): string {
  return row.target ? `${rows.value[row.parent]?.name ?? "?"} for ${row.target}` : row.name;
}
