/** What the page says about a drawing: how much of the graph is in it, and what it cost. Pure. */
import type { StageStats } from "./api";
import type { Content } from "./scene";

export function statsOf(
  { after, part }: Content,
  zoom: number,
  layoutMs: number,
  frameMs: number,
): StageStats {
  const total = after.count;
  const shown = part ? [...part.shown].filter((s) => after.has(s)).length : total;
  const frame = Math.round(10 * frameMs) / 10;
  return { shown, total, hidden: total - shown, zoom, layoutMs, frameMs: frame };
}
