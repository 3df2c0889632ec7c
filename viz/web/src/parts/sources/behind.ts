/** The nodes behind a line of a kernel's text, and the way to them in the graphs. */
import { asProblem, type RunData } from "../../data/backend";
import type { Row } from "../../data/messages/run";
import { Replay } from "../../model/replay";
import { allData, announce, go, passesIn, reportProblem } from "../../state/actions";
import { nodeOfRun } from "../../state/link/links";
import { currentKernel, rows, runName } from "../../state/state";
import { originMap, slotsOfLine } from "../kernel/lines";
import type { At } from "../source/linked";
import { clickedAt } from "../source/lit";

/** How many: the line's own nodes, or else those of the kernel's AST that it comes from. */
export const nodesBehind = ({ artifact, line }: At): number =>
  artifact.lines[line]?.length || artifact.origins[line]?.length || 0;

/** Where a node of a line is: the last state of the last pass of those that made the text that has one. */
async function placeOf(
  of: RunData,
  all: readonly Row[],
  context: number,
  { artifact, line }: At,
): Promise<{ rewrite: number; step: number; slot: number } | null> {
  const made = artifact.passes ?? context;
  const root = all.find((r) => r.kind === "context" && r.id === made);
  if (!root) return null;
  // Without them the line's own nodes are found.
  const origins = originMap(await of.origins(made).catch(() => null));
  for (const pass of passesIn(root, all).reverse()) {
    const bundle = await of.bundle(pass.id);
    const step = bundle.steps.length;
    const graph = new Replay(bundle);
    graph.goto(step);
    const slot = slotsOfLine(bundle, graph, origins, artifact, line).at(-1);
    if (slot !== undefined) return { rewrite: pass.id, step, slot };
  }
  return null;
}

/** Shows a node of a line of the kernel that is looked at, selected in its pass. */
export async function showNodes(at: At): Promise<void> {
  const kernel = currentKernel.peek();
  if (kernel) await showNodesOf(runName.peek(), kernel.id, at);
}

/** The same of a kernel of any run that is open. */
export async function showNodesOf(name: string, context: number, at: At): Promise<void> {
  const isShown = name === runName.peek();
  const of = allData().of(name);
  try {
    const all = isShown ? rows.peek() : (await of.tree(0)).rows;
    const place = await placeOf(of, all, context, at);
    if (!place) announce("No pass of this kernel holds a node of this line");
    else if (isShown) {
      go({ page: "graphs", kernel: null, tab: "node", uid: null, node: null, ...place }, "push");
      clickedAt(at, place.slot);
    } else location.hash = nodeOfRun(name, place.rewrite, place.step, place.slot);
  } catch (thrown) {
    reportProblem(asProblem(thrown, "nodes of a line"));
  }
}
