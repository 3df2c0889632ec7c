/** Walks the history of the selected node across passes, to its lines or to its origin. */
import { effect } from "@preact/signals";
import { announce, go, openNode } from "../../../state/actions";
import { count, plural, short } from "../../../state/format";
import { rewriteRows, step, view } from "../../../state/state";
import { kindName } from "../../../parts/kernel/columns";
import { showLines } from "../../../parts/kernel/show";
import { foldHistory, neighbour, standing } from "./folded";
import { history, linesOfHistory, settled } from "./lineages";

/** Forgets the walk that waits for its history. */
let forget = (): void => undefined;

/** To the next event of the node's life, or to the one before, once its history is read. */
export function walkHistory(direction: 1 | -1): void {
  if (view.peek().tab !== "node") go({ tab: "node" }, "replace"); // the history is read there
  forget();
  if (settled.peek()) walk(direction);
  else {
    announce("The history is still loading.");
    const asked = view.peek();
    forget = effect(() => {
      if (view.value !== asked) forget();
      else if (settled.value) {
        forget();
        walk(direction);
      }
    });
  }
}

function walk(direction: 1 | -1): void {
  const h = history.peek();
  if (!h) {
    announce("The history of this node could not be read.");
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
