/** The links between the selected or hovered node and the sources at hand. */
import { computed } from "@preact/signals";
import { bundle, hovered, sides, view } from "../../app/state";
import { kernelArtifacts, kernelOrigins } from "./kernel";
import { lineIndex, linesOf, originMap } from "./lines";

/** Origins of the kernel's nodes, by node id. */
export const nodeOrigins = computed(() => originMap(kernelOrigins.value));

/** How many lines, over all sources at hand, belong to a node id. */
export const linkedLines = computed(() => {
  const all = kernelArtifacts.value;
  const origins = nodeOrigins.value;
  return (id: number): number =>
    all.reduce((n, a) => n + linesOf(lineIndex(a), origins, id).length, 0);
});

/** Trace-wide id of the node that is selected, else under the pointer; -1 if none. */
export const pointedNode = computed<{ id: number; selected: boolean }>(() => {
  const b = bundle.value;
  const both = sides.value;
  const slot = hovered.value ?? view.value.slot;
  if (!b || !both || slot === null) return { id: -1, selected: false };
  const after = both.after.nodeOf(slot);
  const c = after >= 0 ? after : both.before.nodeOf(slot);
  return { id: c >= 0 ? (b.nodes.id[c] ?? -1) : -1, selected: hovered.value === null };
});
