/**
 * What one step changes, for two replays that stand before and after it.
 *
 * The highlighted slots come from the bundle; edges are compared here. Costs the size of the
 * change, never of the graph.
 */
import type { Step } from "../data/messages/bundle";
import { opOf, titleOf } from "./content";
import { movedSources, type Replay } from "./replay";
import { groupAt } from "./ops";

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
  /** The slot that stands for what the match became; -1 without a match. */
  result: number;
  words: ChangeWords;
}

/** How a difference is told to those who do not see the picture. */
export interface ChangeWords {
  /** What the nodes around it are called. */
  title: string;
  removed: string;
  added: string;
  /** Of a node whose place held that op before. */
  was(op: string): string;
  /** After "source 2" or "sources 1, 2". */
  moved: string;
}

function emptyDiff(words: ChangeWords): StepDiff {
  const maps = { nodes: new Map(), before: new Map(), after: new Map() };
  return { step: 0, ...maps, failed: [], focus: [], result: -1, words };
}

const IN_STEPS = { removed: "removed", added: "added", was: (op: string) => `was ${op}`, moved: "moved" };

const wordsOfStep = (k: number): ChangeWords => ({
  ...IN_STEPS,
  title: k ? `Nodes around the change of step ${k.toLocaleString("en")}` : "Nodes of the input graph",
});

function failedSlots(after: Replay): number[] {
  const { error } = after.bundle;
  if (!error || after.step !== Math.min(error.step, after.timeline.steps)) return [];
  const slots = [error.slot ?? -1, ...(error.loop ?? []).map((l) => l.slot)];
  return [...new Set(slots)].filter((s) => after.has(s));
}

/** The change from `before` (state k - 1) to `after` (state k); of the input graph, none. */
export function stepDiff(before: Replay, after: Replay): StepDiff {
  const k = after.step;
  const step: Step | undefined = after.bundle.steps[k - 1];
  const isStep = step !== undefined && before.step === k - 1;
  const diff = emptyDiff(wordsOfStep(isStep ? k : 0));
  diff.failed = failedSlots(after);
  diff.focus = diff.failed;
  if (!isStep) return diff;
  diff.step = k;
  diff.result = step.result;
  for (const s of step.removed) diff.nodes.set(s, "removed");
  for (const s of step.added)
    diff.nodes.set(s, diff.nodes.get(s) === "removed" ? "replaced" : "added");
  for (const s of step.moved) if (!diff.nodes.has(s)) diff.nodes.set(s, "moved");
  const t = after.timeline;
  const touched = new Set<number>();
  for (let i = t.madeFirst[k]!; i < t.madeFirst[k + 1]!; i++) touched.add(t.slot[t.made[i]!]!);
  for (const s of touched) compareEdges(diff, s, before, after);
  const present = (s: number): boolean => before.has(s) || after.has(s);
  const eye = [...diff.failed, step.slot, step.result, ...diff.nodes.keys()];
  diff.focus = [...new Set(eye)].filter(present);
  return diff;
}

/** Adds the edges into slot s that differ; what became of the node itself is in the diff. */
export function compareEdges(diff: StepDiff, s: number, before: Replay, after: Replay): void {
  const { edge } = after.timeline;
  const old = edge[before.version[s]!]!;
  const now = edge[after.version[s]!]!;
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
  const said = diff.words;
  if (change === "removed") words.push(said.removed);
  else if (change === "added") words.push(said.added);
  else if (change === "replaced") words.push(said.was(opOf(bundle, before.nodeOf(slot))));
  else if (change === "moved") {
    const moved = movedSources(before.srcOf(slot), after.srcOf(slot));
    const which = moved.length ? `${moved.length > 1 ? "sources" : "source"} ${moved.join(", ")} ` : "";
    words.push(which + said.moved);
  }
  const sources = side.srcOf(slot).length;
  if (sources) words.push(`${sources} ${sources > 1 ? "sources" : "source"}`);
  else if (groupAt(bundle, c) !== "const") words.push("no sources");
  return words.join(", ");
}
