/** The links between the selected or hovered node and the sources at hand. */
import { computed } from "@preact/signals";
import { bundle, hovered, sides, view } from "../../state/state";
import { columnKey } from "./columns";
import { compiledOrigins, kernelArtifacts, kernelOrigins, shownColumns } from "./kernel";
import { lineIndex, linesOf, originMap } from "./lines";

/** Origins of the kernel's nodes, by node id. */
export const nodeOrigins = computed<ReadonlyMap<number, readonly number[]>>(() => {
  const own = originMap(kernelOrigins.value);
  return compiledOrigins.value ? new Map([...own, ...originMap(compiledOrigins.value)]) : own;
});

/** Lines of a node over the sources that are shown: how many, in how many sources, and cut. */
export interface Linked {
  lines: number;
  sources: number;
  cut: number;
}

export const linkedLines = computed(() => {
  const shown = new Set(shownColumns.value);
  const all = kernelArtifacts.value.filter((a) => shown.has(columnKey(a)));
  const origins = nodeOrigins.value;
  return (id: number): Linked => {
    const found = { lines: 0, sources: 0, cut: 0 };
    for (const a of all) {
      const { lines, cut } = linesOf(lineIndex(a), origins, id);
      found.lines += lines.length;
      found.sources += lines.length ? 1 : 0;
      found.cut += cut;
    }
    return found;
  };
});

/** Trace-wide id of what a slot holds after the step, else before it; null for nothing. */
function nodeIn(slot: number | null): number | null {
  const b = bundle.value;
  const both = sides.value;
  if (!b || !both || slot === null) return null;
  const after = both.after.nodeOf(slot);
  const c = after >= 0 ? after : both.before.nodeOf(slot);
  return c >= 0 ? (b.nodes.id[c] ?? null) : null;
}

/** Trace-wide ids of the nodes that are selected and under the pointer. */
export const selectedNode = computed(() => nodeIn(view.value.slot));
export const hoveredNode = computed(() => nodeIn(hovered.value));
