/** Rectangles of the picture, in its own units. Pure. */

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function joinRects(rects: Iterable<Rect>): Rect | null {
  let all: Rect | null = null;
  for (const r of rects)
    all = all
      ? {
          left: Math.min(all.left, r.left),
          top: Math.min(all.top, r.top),
          right: Math.max(all.right, r.right),
          bottom: Math.max(all.bottom, r.bottom),
        }
      : { ...r };
  return all;
}

export function overlap(a: Rect, b: Rect): boolean {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}
