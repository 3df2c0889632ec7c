/** The emulated text among the sources of the kernel: its lines are linked with those of the program and with
 * nodes. */
import { computed, effect, untracked } from "@preact/signals";
import type { Artifact } from "../../../data/messages/kernel";
import { emulation, isOpen } from "../../../parts/emulation/store";
import { line } from "../../../parts/emulation/stepping";
import { columnKey } from "../../../parts/kernel/columns";
import { canCompile, compile, compiling, kernelArtifacts } from "../../../parts/kernel/kernel";
import { linked, pointAt } from "../../../parts/source/lit";

/** The text that is emulated as the kernel has it; null for one that was edited or made with other optimizations. */
const source = computed<Artifact | null>(() => {
  const of = emulation.value;
  const found = of && kernelArtifacts.value.find((a) => columnKey(a) === columnKey(of));
  return found && found.text.trimEnd() === of.text.trimEnd() ? found : null;
});

/** Whether the links of the lines are still on their way. */
export const isComing = computed(() => {
  const of = emulation.value;
  return of !== null && compiling.value.get(of.target)?.state === "running";
});

/** The line that is looked at, in the kernel's own text; null before the first instruction, too. */
export const origin = computed(() =>
  source.value && line.value ? { artifact: source.value, line: line.value - 1 } : null,
);

/** The lines (from 1) that come from the same as the one that is looked at. */
export const related = computed<ReadonlySet<number>>(() => {
  const at = origin.value;
  return new Set(at ? linked.litIn(at.artifact).lines.map((one) => one + 1) : []);
});

/** Lights what the line belongs to, and compiles a text that was not recorded for its links. Call once. */
export function startOrigin(): void {
  let lit: Artifact | null = null;
  effect(() => {
    const at = isOpen.value ? origin.value : null;
    if (at) pointAt(at.artifact, at.line);
    else if (lit) pointAt(lit, null);
    lit = at?.artifact ?? null;
  });
  effect(() => {
    const of = emulation.value;
    if (!isOpen.value || !of || of.source !== null || of.opts !== null) return;
    const has = kernelArtifacts.value.some((a) => columnKey(a) === columnKey(of));
    if (!has && canCompile(of.target) && !compiling.value.has(of.target))
      untracked(() => compile(of.target));
  });
}
