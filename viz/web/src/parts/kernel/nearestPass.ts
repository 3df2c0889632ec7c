/** Of several passes of one name, the one that is nearest to where the reader is. Pure. */
import { ancestry } from "../../data/rows";
import type { Row } from "../../data/messages/run";

/** The pass of this name in the innermost context around `row` that has one; else the first of the run. */
export function nearestPass(rows: readonly Row[], name: string, row: number): Row | undefined {
  const named = rows.filter((r) => r.kind === "rewrite" && r.name === name && r.status !== "gone");
  const around = rows[row] ? ancestry(rows, row).map((r) => r.row) : [];
  for (const outer of around) {
    const inside = named.filter((r) => ancestry(rows, r.row).some((a) => a.row === outer));
    const near = inside.find((r) => r.steps > 0) ?? inside[0];
    if (near) return near;
  }
  return named.find((r) => r.steps > 0 && !r.target) ?? named[0];
}
