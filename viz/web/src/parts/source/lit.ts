/** Lines of the kernel's sources and nodes of the graph light each other; the graph may be none that is drawn. */
import { computed, effect, signal, untracked } from "@preact/signals";
import { announce, select } from "../../state/actions";
import { bundle, currentKernel, currentSchedule, runKey, sides, view } from "../../state/state";
import { lit } from "../../state/stage";
import type { Artifact } from "../../data/messages/kernel";
import { useColumn } from "../kernel/kernel";
import { columnKey } from "../kernel/columns";
import { lineIndex, linesOf, slotsOfLine } from "../kernel/lines";
import { hoveredNode, nodeOrigins, selectedNode } from "../kernel/link";
import { type At, Linked } from "./linked";

const MOST_LIT = 400;

const subject = (): string =>
  `${runKey.value} ${currentKernel.value?.id ?? currentSchedule.value?.id ?? ""}`;

/** The sources of the kernel, or the texts of the schedule. */
export const linked = new Linked({
  subject,
  slot: () => (view.value.page === "graphs" ? view.value.slot : null),
  selected: () => (view.value.page === "graphs" ? selectedNode.value : null),
  hovered: () => (view.value.page === "graphs" ? hoveredNode.value : null),
  linesOfNode: (artifact, id) => linesOf(lineIndex(artifact), nodeOrigins.value, id),
});

/** The line that was clicked before the graph was there. */
const early = signal<At | null>(null);

const isGraphThere = computed(() => bundle.value !== null && sides.value !== null);

/** The graph lights the nodes of the line that lights other lines, and selects that of a line that was
 * clicked before it was there. Call once. */
export function startLit(): void {
  effect(() => {
    const at = linked.clicked.value;
    if (!at || at.artifact !== early.value?.artifact || at.line !== early.value.line) return;
    if (isGraphThere.value) untracked(() => pickLine(at.artifact, at.line, at.top));
  });
  let had = false;
  effect(() => {
    const at = linked.line.value;
    const slots = at ? slotsOf(at) : [];
    if (at || had) lit.value = slots;
    had = at !== null;
  });
}

/** Slots of the graph that is drawn that a line stands for. */
function slotsOf({ artifact, line }: At): number[] {
  const b = bundle.value;
  const both = sides.value;
  if (!b || !both || view.value.page !== "graphs") return [];
  return slotsOfLine(b, both.after, nodeOrigins.value, artifact, line).slice(0, MOST_LIT);
}

/** Lights what a line (0-based) of a text belongs to, here and in the other texts; null: nothing. */
export function pointAt(artifact: Artifact, line: number | null): void {
  const was = linked.pointed.peek();
  if (line === null) linked.pointed.value = null;
  else if (was?.artifact !== artifact || was.line !== line)
    linked.pointed.value = { artifact, line };
}

/** The reader chose a line, which is so far below the upper edge of its text. */
export function pickLine(artifact: Artifact, line: number, top: number): void {
  useColumn(columnKey(artifact));
  early.value = view.peek().page === "graphs" && !isGraphThere.peek() ? { artifact, line } : null;
  const slots = slotsOf({ artifact, line });
  const slot = slots.at(-1);
  if (slot !== undefined) select(slot);
  clickedAt({ artifact, line }, view.peek().slot, top);
  if (!early.peek()) announce(said({ artifact, line }, slots.length));
}

/** What there is to say of a line that was clicked; "" where that is to be seen, which also takes
 * away what was said of the line before. */
function said({ artifact, line }: At, slots: number): string {
  if (!artifact.lines[line]?.length && !artifact.origins[line]?.length)
    return "No node stands behind this line";
  return slots || view.peek().page !== "graphs"
    ? ""
    : "No node of this graph corresponds to this line; its lines in the other texts are lit";
}

/** The line is the clicked one, with a slot, so far below the upper edge of its text. */
export function clickedAt(at: At, slot: number | null, top = 0): void {
  linked.click({ ...at, top, subject: subject(), slot });
}

/** Nothing is chosen any more; false where nothing was. */
export function clearLine(): boolean {
  if (!linked.clicked.peek()) return false;
  linked.click(null);
  return true;
}
