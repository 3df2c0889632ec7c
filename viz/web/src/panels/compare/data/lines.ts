/** Lines of the texts of both runs and nodes of the joint graph light each other. */
import { batch, computed } from "@preact/signals";
import type { Artifact } from "../../../data/messages/kernel";
import { opOf, uidOf } from "../../../model/content";
import { columnKey } from "../../../parts/kernel/columns";
import { lineIndex, linesOf, type Lit, NOTHING, slotsOfLine } from "../../../parts/kernel/lines";
import { type At, Linked } from "../../../parts/source/linked";
import { nodesBehind, showNodesOf } from "../../../parts/sources/behind";
import { announce } from "../../../state/actions";
import { runName } from "../../../state/state";
import { compareLink, show } from "./link";
import type { Side } from "./ask";
import { linesOfSide } from "./merged";
import { runsKey, scope, scopeKey } from "./store";
import { originsAt, textKey, texts, textsOf } from "./texts";
import { passes, sides } from "./walk";

/** At most so many nodes are lit. */
const MOST_LIT = 400;
const SIDES = ["a", "b"] as const;

const subject = (): string =>
  `${runsKey.value} ${scopeKey.value} ${String(compareLink.value.unified)}`;
const selectedSlot = (): number | null =>
  compareLink.value.walk === null ? null : compareLink.value.slot;

export const linked = new Linked({
  subject,
  slot: selectedSlot,
  selected: selectedSlot,
  hovered: () => null,
  linesOfNode: linesOfSlot,
});

/** The lines that a slot of the joint graph stands behind, in A's graph and in B's. */
function linesOfSlot(artifact: Artifact, slot: number): Lit {
  const id = columnKey(artifact);
  const text = texts.value.get(id);
  const now = passes.value;
  const graphs = sides.value;
  if (!text || !now || !graphs) return NOTHING;
  const both = textsOf(textKey(id));
  const found = SIDES.map((side): Lit => {
    const c = (side === "a" ? graphs.before : graphs.after).nodeOf(slot);
    const node = now.both.bundle.nodes.id[c];
    const own = both[side]?.artifact;
    if (node === undefined || !own) return NOTHING;
    return linesOfSide(text, side, linesOf(lineIndex(own), originsAt(side), node));
  });
  const lines = [...new Set(found.flatMap((one) => one.lines))].sort((x, y) => x - y);
  return { lines, cut: found.reduce((sum, { cut }) => sum + cut, 0) };
}

/** The slots of the joint graph that a line stands for. */
function slotsOf({ artifact, line }: At): number[] {
  const id = columnKey(artifact);
  const row = texts.value.get(id)?.rows[line];
  const now = passes.value;
  const graphs = sides.value;
  if (!row || !now || !graphs) return [];
  const both = textsOf(textKey(id));
  // Node ids are those of a run: only the contents that are a side's own can have them.
  const slots = SIDES.flatMap((side) => {
    const own = both[side]?.artifact;
    if (!own || !row[side]) return [];
    const graph = side === "a" ? graphs.before : graphs.after;
    return slotsOfLine(now.both.bundle, graph, originsAt(side), own, row[side] - 1);
  });
  return [...new Set(slots)].slice(0, MOST_LIT);
}

/** The slots that the line under the pointer, or the clicked one, stands for. */
export const litSlots = computed<readonly number[]>(() => {
  const at = linked.line.value;
  return at ? slotsOf(at) : [];
});

export function pointAt(artifact: Artifact, line: number | null): void {
  linked.pointed.value = line === null ? null : { artifact, line };
}

/** The reader chose a line, which is so far below the upper edge of its text. */
export function pickLine(artifact: Artifact, line: number, top: number): void {
  const slot = slotsOf({ artifact, line }).at(-1) ?? null;
  if (slot !== null && compareLink.peek().walk !== null) show({ slot }, "replace");
  linked.click({ artifact, line, top, subject: subject(), slot: compareLink.peek().slot });
  const known = artifact.lines[line]?.length || artifact.origins[line]?.length;
  announce(known ? "" : "No node stands behind this line");
}

/** "u124 MUL" of what is selected; "" for nothing. */
export function slotName(): string {
  const slot = selectedSlot();
  const now = passes.value;
  const graphs = sides.value;
  if (slot === null || !now || !graphs) return "";
  const after = graphs.after.nodeOf(slot);
  const c = after >= 0 ? after : graphs.before.nodeOf(slot);
  return c >= 0 ? `${uidOf(now.both.bundle, c)} ${opOf(now.both.bundle, c)}` : "";
}

/** Nothing is chosen any more; false where nothing was. */
export function clearLine(): boolean {
  if (!linked.clicked.peek()) return false;
  linked.click(null);
  return true;
}

/** Where the reader is among the differences of a text; -1 before the first step. */
export const differenceAt = (all: readonly ReadonlyMap<string, number>[]): number =>
  all.findIndex((at) => [...at].every(([id, line]) => linked.steppedTo(id)?.line === line));

/** To the next or previous difference of a text, from the last on to the first: all of its columns come to it. */
export function goDifference(all: readonly ReadonlyMap<string, number>[], way: 1 | -1): void {
  const now = differenceAt(all);
  const next = now < 0 && way < 0 ? all.length - 1 : (now + way + all.length) % all.length;
  batch(() => {
    for (const [id, line] of all[next] ?? []) linked.walkTo(id, line, "level");
  });
}

/** The text of a side that a line of a column is of, where in it, and the run; the side that is shown first
 * where both have the line. */
function ownLine({ artifact, line }: At): { run: string; side: Side; at: At } | null {
  const id = columnKey(artifact);
  const row = texts.peek().get(id)?.rows[line];
  const both = textsOf(textKey(id));
  const { a, b } = compareLink.peek();
  const runs = { a, b };
  const having = SIDES.filter((side) => row?.[side] && both[side]);
  const side = having.find((one) => runs[one] === runName.peek()) ?? having.at(-1);
  if (!row || !side) return null;
  return { run: runs[side], side, at: { artifact: both[side]!.artifact, line: row[side] - 1 } };
}

/** The nodes of the clicked line in the run that it is of, and the way to them. */
export function nodesOfLine(): { count: number; show: () => void } | null {
  const clicked = linked.clicked.value;
  const own = clicked && ownLine(clicked);
  const context = own && scope.value?.[own.side];
  if (!own || context === null || context === undefined) return null;
  return {
    count: nodesBehind(own.at),
    show: () => void showNodesOf(own.run, context, own.at),
  };
}
