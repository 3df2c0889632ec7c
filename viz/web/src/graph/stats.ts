/** What the page says about a drawing: how much of the graph is in it, and what it cost. Pure. */
import { countIn } from "../model/fold/boxes";
import type { StageStats } from "./api";
import type { Content } from "./scene";

export function statsOf(
  { after, part, picture }: Content,
  zoom: number,
  layoutMs: number,
  frameMs: number,
): StageStats {
  const total = after.count;
  const { fold } = picture;
  let folded = 0;
  for (const box of fold?.boxes ?? [])
    if (!part || part.shown.has(box.head)) folded += countIn(after, box);
  let shown = total - folded;
  if (part) {
    shown = 0;
    for (const s of part.shown) if (after.has(s) && !(fold && fold.of[s]! >= 0)) shown++;
  }
  const hidden = total - shown - folded;
  const frame = Math.round(10 * frameMs) / 10;
  return { shown, total, folded, hidden, zoom, layoutMs, frameMs: frame };
}
