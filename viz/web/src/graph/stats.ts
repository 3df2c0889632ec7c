/** What the page says about a drawing: how much of the graph is in it, and what it cost. Pure. */
import { countIn } from "../model/fold/boxes";
import type { StageStats } from "./api";
import type { Content } from "./picture/scene";

type Counts = Pick<StageStats, "shown" | "total" | "folded" | "hidden">;

/** A content is counted once, not at every frame. */
const counted = new WeakMap<Content, Counts>();

export function statsOf(
  content: Content,
  zoom: number,
): StageStats {
  let counts = counted.get(content);
  if (!counts) counted.set(content, (counts = countsOf(content)));
  return { ...counts, zoom };
}

function countsOf({ after, part, picture }: Content): Counts {
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
  return { shown, total, folded, hidden: total - shown - folded };
}
