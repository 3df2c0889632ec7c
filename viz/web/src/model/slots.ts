/** From a trace-wide node id to the slot that holds the node. Pure. */
import type { Timeline } from "./timeline";

/** The slot that holds node `uid` in state k, or else nearest to it in steps; null for none. */
export function slotOfNode(t: Timeline, uid: number, k: number): number | null {
  const content = t.bundle.nodes.id.indexOf(uid);
  if (content < 0) return null;
  let best: { slot: number; away: number } | null = null;
  for (let v = 0; v < t.node.length; v++) {
    if (t.node[v] !== content) continue;
    const slot = t.slot[v]!;
    const from = t.step[v]!;
    const until = v + 1 < t.first[slot + 1]! ? t.step[v + 1]! - 1 : t.steps;
    const away = k < from ? from - k : k > until ? k - until : 0;
    if (!best || away < best.away) best = { slot, away };
  }
  return best?.slot ?? null;
}
