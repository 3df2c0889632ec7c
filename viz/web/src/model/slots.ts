/** From a trace-wide node id to the slot that holds the node. Pure. */
import type { Timeline } from "./timeline";

/** A slot that holds a node, and the nearest step to some other one at which it does. */
export interface NodePlace {
  slot: number;
  step: number;
}

/** The slot that holds node `uid` in state k, or else nearest to it in steps; null for none. */
export function placeOfNode(t: Timeline, uid: number, k: number): NodePlace | null {
  const content = t.bundle.nodes.id.indexOf(uid);
  if (content < 0) return null;
  let best: { slot: number; step: number; away: number } | null = null;
  for (let v = 0; v < t.node.length; v++) {
    if (t.node[v] !== content) continue;
    const slot = t.slot[v]!;
    const from = t.step[v]!;
    const until = v + 1 < t.first[slot + 1]! ? t.step[v + 1]! - 1 : t.steps;
    const step = Math.max(from, Math.min(k, until));
    const away = Math.abs(step - k);
    if (!best || away < best.away) best = { slot, step, away };
  }
  return best && { slot: best.slot, step: best.step };
}

/** The slot alone. */
export const slotOfNode = (t: Timeline, uid: number, k: number): number | null =>
  placeOfNode(t, uid, k)?.slot ?? null;
