/**
 * What one step changes, for two replays that stand before and after it.
 *
 * The highlighted slots come from the bundle; edges are compared here. Costs the size of the
 * change, never of the graph.
 */
import type { Step } from "../data/messages/bundle";
import { opOf, titleOf } from "./content";
import { movedSources, type Replay } from "./replay";
import { opGroup } from "./ops";

export type NodeChange = "same" | "removed" | "added" | "moved" | "replaced";
export type EdgeChange = "removed" | "added" | "moved";

export interface StepDiff {
  /** 0: the input graph, nothing changed. */
  step: number;
  /** Changed slots. "replaced" is both removed and added: other content in the same place. */
  nodes: Map<number, NodeChange>;
  /** Changed union edges of the state before, and of the state after. */
  before: Map<number, EdgeChange>;
  after: Map<number, EdgeChange>;
  /** Where the rewrite failed, if it did after this step: the node, then the places of a loop. */
  failed: number[];
  /** These, then the match's own slots, then all other changed ones: where the eye should go. */
  focus: number[];
}

function emptyDiff(): StepDiff {
  return { step: 0, nodes: new Map(), before: new Map(), after: new Map(), failed: [], focus: [] };
}

function failedSlots(after: Replay): number[] {
  const { error } = after.bundle;
  if (!error || after.step !== Math.min(error.step, after.timeline.steps)) return [];
  const slots = [error.slot ?? -1, ...(error.loop ?? []).map((l) => l.slot)];
  return [...new Set(slots)].filter((s) => after.has(s));
}

/** The change from `before` (state k - 1) to `after` (state k); of the input graph, none. */
export function stepDiff(before: Replay, after: Replay): StepDiff {
  const diff = emptyDiff();
  diff.failed = failedSlots(after);
  diff.focus = diff.failed;
  const k = after.step;
  const step: Step | undefined = after.bundle.steps[k - 1];
  if (!step || before.step !== k - 1) return diff;
  diff.step = k;
  for (const s of step.removed) diff.nodes.set(s, "removed");
  for (const s of step.added)
    diff.nodes.set(s, diff.nodes.get(s) === "removed" ? "replaced" : "added");
  for (const s of step.moved) if (!diff.nodes.has(s)) diff.nodes.set(s, "moved");
  const t = after.timeline;
  const touched = new Set<number>();
  for (let i = t.madeFirst[k]!; i < t.madeFirst[k + 1]!; i++) touched.add(t.slot[t.made[i]!]!);
  for (const s of touched) {
    const old = t.edge[before.version[s]!]!;
    const now = t.edge[after.version[s]!]!;
    const change = diff.nodes.get(s);
    const gone = change === "removed" || change === "replaced";
    const fresh = change === "added" || change === "replaced";
    old.forEach((e, i) => {
      if (gone) diff.before.set(e, "removed");
      else if (now[i] !== e) diff.before.set(e, "moved");
    });
    now.forEach((e, i) => {
      if (fresh) diff.after.set(e, "added");
      else if (old[i] !== e) diff.after.set(e, "moved");
    });
  }
  const present = (s: number): boolean => before.has(s) || after.has(s);
  const eye = [...diff.failed, step.slot, step.result, ...diff.nodes.keys()];
  diff.focus = [...new Set(eye)].filter(present);
  return diff;
}

/** "MUL, int32, source 0 moved": a slot in words, for those who do not see the picture. */
export function describeSlot(slot: number, before: Replay, after: Replay, diff: StepDiff): string {
  const change = diff.nodes.get(slot);
  const side = after.has(slot) ? after : before;
  const c = side.nodeOf(slot);
  if (c < 0) return "not in this step";
  const { bundle } = side;
  const words = [titleOf(bundle, c)];
  const dtype = bundle.dtypes[bundle.nodes.dtype[c] ?? -1];
  if (dtype && dtype !== "void") words.push(dtype);
  if (diff.failed.includes(slot)) words.push("the pass failed here");
  if (change === "removed") words.push("removed");
  else if (change === "added") words.push("added");
  else if (change === "replaced") words.push(`was ${opOf(bundle, before.nodeOf(slot))}`);
  else if (change === "moved") {
    const moved = movedSources(before.srcOf(slot), after.srcOf(slot));
    words.push(
      moved.length ? `${moved.length > 1 ? "sources" : "source"} ${moved.join(", ")} moved` : "moved",
    );
  }
  const sources = side.srcOf(slot).length;
  if (sources) words.push(`${sources} ${sources > 1 ? "sources" : "source"}`);
  else if (opGroup(opOf(bundle, c)) !== "const") words.push("no sources");
  return words.join(", ");
}
