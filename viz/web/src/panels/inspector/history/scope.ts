/** Which lineage a pass belongs to: the same as `scope_of` of viz/views/nodes/lineage.py. Pure. */
import { ancestry } from "../../../data/rows";
import type { Row } from "../../../data/messages/run";

/** Rows of further processes have ids that are multiples of this. */
const PROCESS = 1_000_000_000;

/** The context (or lone rewrite) whose lineage a rewrite belongs to. */
export function scopeRow(all: readonly Row[], row: Row): number {
  const path = ancestry(all, row.row).filter((r) => r.id % PROCESS !== 0);
  const contexts = path.filter((r) => r.kind === "context");
  const named = contexts.find((r) => r.label === "schedule" || r.label === "kernel");
  return (named ?? contexts.at(-1) ?? path.at(-1) ?? row).id;
}
