/** Where the nodes that a pattern bound stand in the graph before the step. Pure. */
import type { Step } from "../data/messages/bundle";

interface Graph {
  nodeOf(slot: number): number;
  srcOf(slot: number): readonly number[];
}

/** A match looks a few levels deep; a pattern that repeats may reach further, never this far. */
const MOST_VISITED = 20_000;

/** Name and slot of every binding that lies at or below the matched slot. */
export function bindSlots(step: Step, before: Graph): [string, number][] {
  const wanted = new Map<number, string[]>();
  for (const [name, node] of step.binds) {
    const names = wanted.get(node);
    if (names) names.push(name);
    else wanted.set(node, [name]);
  }
  const found: [string, number][] = [];
  const queue = [step.slot];
  const seen = new Set(queue);
  for (let i = 0; i < queue.length && i < MOST_VISITED && wanted.size; i++) {
    const slot = queue[i]!;
    const node = before.nodeOf(slot);
    for (const name of wanted.get(node) ?? []) found.push([name, slot]);
    wanted.delete(node);
    for (const source of before.srcOf(slot))
      if (!seen.has(source)) {
        seen.add(source);
        queue.push(source);
      }
  }
  return found;
}
