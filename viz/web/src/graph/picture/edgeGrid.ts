/**
 * Edges by where they are: which of them may touch a rectangle.
 *
 * Each lies in one cell of the level whose cells are as large as the edge, so that what is asked
 * for costs what is there, not how many edges there are. Knows rectangles only.
 */
import type { Rect } from "../view/rect";

/** Side of the finest cells, px. */
const CELL = 512;

export class EdgeGrid {
  private readonly edges: number[] = [];
  private readonly rects: Rect[] = [];
  /** Per level and cell: positions in `edges`. */
  private readonly grid: Map<number, number[]>[] = [];

  add(edge: number, rect: Rect): void {
    const { left, top, right, bottom } = rect;
    const at = this.edges.push(edge) - 1;
    this.rects.push(rect);
    const extent = Math.max(right - left, bottom - top);
    const level = Math.max(0, Math.ceil(Math.log2(extent / CELL)));
    while (this.grid.length <= level) this.grid.push(new Map<number, number[]>());
    const size = CELL * 2 ** level;
    const key = cellKey(
      Math.floor((left + right) / 2 / size),
      Math.floor((top + bottom) / 2 / size),
    );
    const cells = this.grid[level]!;
    const cell = cells.get(key);
    if (cell) cell.push(at);
    else cells.set(key, [at]);
  }

  /** Calls back for every edge whose rectangle touches this one. */
  visit(rect: Rect, visitor: (edge: number) => void): void {
    const { edges, rects } = this;
    const list = (found: readonly number[]): void => {
      for (const i of found) {
        const r = rects[i]!;
        if (r.left > rect.right || r.right < rect.left) continue;
        if (r.top > rect.bottom || r.bottom < rect.top) continue;
        visitor(edges[i]!);
      }
    };
    this.grid.forEach((cells, level) => {
      const size = CELL * 2 ** level;
      // The middle of an edge is in its cell; half of it may reach out.
      const x0 = Math.floor((rect.left - size / 2) / size);
      const x1 = Math.floor((rect.right + size / 2) / size);
      const y0 = Math.floor((rect.top - size / 2) / size);
      const y1 = Math.floor((rect.bottom + size / 2) / size);
      if ((x1 - x0 + 1) * (y1 - y0 + 1) >= cells.size) {
        for (const found of cells.values()) list(found);
        return;
      }
      for (let cx = x0; cx <= x1; cx++)
        for (let cy = y0; cy <= y1; cy++) {
          const found = cells.get(cellKey(cx, cy));
          if (found) list(found);
        }
    });
  }
}

function cellKey(cx: number, cy: number): number {
  return (cx + 0x200000) * 0x400000 + (cy + 0x200000);
}
