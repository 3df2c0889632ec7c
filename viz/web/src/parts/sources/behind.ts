/** The nodes behind a line of a kernel's text, and the way to them in the graphs. */
import { asProblem } from "../../data/backend";
import type { Artifact } from "../../data/messages/kernel";
import { Replay } from "../../model/replay";
import { announce, data, go, passesIn, reportProblem } from "../../state/actions";
import { currentKernel, rows } from "../../state/state";
import { originMap, slotsOfLine } from "../kernel/lines";
import { nodeOrigins } from "../kernel/link";
import type { At } from "../source/linked";
import { clickedAt } from "../source/lit";

/** How many: the line's own nodes, or else those of the kernel's AST that it comes from. */
export const nodesBehind = ({ artifact, line }: At): number =>
  artifact.lines[line]?.length || artifact.origins[line]?.length || 0;

/** Shows the last pass of those that made a text in which a line has a node, with that selected. */
export async function showNodes(at: At): Promise<void> {
  try {
    const origins = await originsOf(at.artifact);
    for (const pass of passesOf(at.artifact).reverse()) {
      const bundle = await data().bundle(pass.id);
      const graph = new Replay(bundle);
      graph.goto(bundle.steps.length);
      const slot = slotsOfLine(bundle, graph, origins, at.artifact, at.line).at(-1);
      if (slot === undefined) continue;
      const place = { rewrite: pass.id, step: bundle.steps.length, slot, uid: null, node: null };
      go({ page: "graphs", kernel: null, tab: "node", ...place }, "push");
      clickedAt(at, slot);
      return;
    }
    announce("No pass of this kernel holds a node of this line");
  } catch (thrown) {
    reportProblem(asProblem(thrown, "nodes of a line"));
  }
}

/** The context of the passes that made a text: the kernel's own, or those of another target. */
const madeBy = (artifact: Artifact): number | undefined =>
  artifact.passes ?? currentKernel.peek()?.id;

function passesOf(artifact: Artifact): ReturnType<typeof passesIn> {
  const made = madeBy(artifact);
  const root = rows.peek().find((r) => r.kind === "context" && r.id === made);
  return root ? passesIn(root) : [];
}

async function originsOf(artifact: Artifact): Promise<ReadonlyMap<number, readonly number[]>> {
  const made = madeBy(artifact);
  if (made === undefined || made === currentKernel.peek()?.id) return nodeOrigins.peek();
  // Without them the line's own nodes are found.
  return originMap(await data().origins(made).catch(() => null));
}
