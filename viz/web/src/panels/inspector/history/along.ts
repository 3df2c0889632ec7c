/** Walks the history of the selected node across passes, to its lines or to its origin. */
import { announce, go, openNode } from "../../../state/actions";
import { count, plural, short } from "../../../state/format";
import { rewriteRows, step, view } from "../../../state/state";
import { kindName } from "../../../parts/kernel/columns";
import { showLines } from "../../../parts/kernel/show";
import { foldHistory, neighbour, standing } from "./folded";
import { history, linesOfHistory, reading } from "./lineages";

/** To the next event of the node's life, or to the one before. */
export function walkHistory(direction: 1 | -1): void {
  if (view.peek().tab !== "node") go({ tab: "node" }, "replace"); // the history is read there
  const h = history.peek();
  if (!h || reading.peek()) {
    announce("The history is still loading. Try again in a moment.");
    return;
  }
  const rows = foldHistory(h.rows);
  const rewrite = view.peek().rewrite ?? -1;
  const order = (id: number): number => rewriteRows.peek().get(id)?.row ?? -1;
  const here = standing(rows, rewrite, step.peek(), order);
  const next = neighbour(rows, here, direction, rewrite, step.peek());
  if (next) {
    const { row } = next;
    openNode(row.rewrite, row.step, row.node);
    const pass = short(rewriteRows.peek().get(row.rewrite)?.name ?? "?");
    announce(`u${row.node} ${row.op} in ${pass}, step ${count(row.step)}`);
  } else if (direction > 0) toLines();
  else {
    const line = h.rows.find((r) => r.line)?.line;
    announce(line ? `The node comes from ${short(line)}` : "Start of the history");
  }
}

function toLines(): void {
  const first = linesOfHistory.peek()[0];
  if (!first) {
    announce("End of the history: no source line comes from this node");
    return;
  }
  showLines(first.artifact);
  const { kind, target } = first.artifact;
  announce(`${plural(first.lines.length, "line")} of ${kindName(kind)} for ${target}`);
}
