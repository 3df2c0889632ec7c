/**
 * Moves a view a little, so that its border runs between boxes rather than through them. Pure.
 */
import type { Rect } from "./rect";

/** A view is moved by no more than this share of its size. */
const MOST = 0.35;
/** So many px are not worth one box that is whole again. */
const WORTH = 160;

interface Span {
  from: number;
  to: number;
}

/**
 * How far to move what a window of `width` x `height` px shows, so that fewest of `boxes` are cut
 * by its border; what `keep` holds stays in view. All in px of the window.
 */
export function uncut(
  width: number,
  height: number,
  boxes: readonly Rect[],
  keep: Rect,
): { dx: number; dy: number } {
  const rows = boxes.filter((b) => b.bottom > 0 && b.top < height);
  const dx = shift(
    width,
    rows.map((b) => ({ from: b.left, to: b.right })),
    { from: keep.left, to: keep.right },
  );
  const columns = boxes.filter((b) => b.right + dx > 0 && b.left + dx < width);
  const dy = shift(
    height,
    columns.map((b) => ({ from: b.top, to: b.bottom })),
    { from: keep.top, to: keep.bottom },
  );
  return { dx, dy };
}

function shift(size: number, spans: readonly Span[], keep: Span): number {
  const cut = (by: number): Span[] =>
    spans.filter(
      (s) => (s.from + by < 0 && s.to + by > 0) || (s.from + by < size && s.to + by > size),
    );
  const price = (by: number): number => cut(by).length * WORTH + Math.abs(by);
  // Each box that is cut comes in whole, or goes out.
  const ways = cut(0).flatMap((s) =>
    s.from < 0 ? [-s.from, -s.to] : [size - s.to, size - s.from],
  );
  let best = 0;
  for (const by of ways) {
    const kept = keep.from + by >= Math.min(0, keep.from) && keep.to + by <= Math.max(size, keep.to);
    if (kept && Math.abs(by) <= MOST * size && price(by) < price(best)) best = by;
  }
  return best;
}
