/** Paints the rows of two passes in step: A above, B below, and where one of them stands still. */
import { kindOfRow, type RowKind, type Rows } from "../../../model/pair/rows";
import { barWidth, xOf } from "../../../parts/strip/scale";
import { type Backdrop, column, type Frame, grid, pointer } from "../../../parts/strip/strip";
import { prepare } from "../../../ui/canvas";

/** Marks that add less to the one before are left out, px: there may be 100,000 rows. */
const VISIBLE = 0.5;

/** Drawn in this order, so that what differs is never hidden by what does not. */
const ORDER: readonly RowKind[] = ["same", "differs", "onlyA", "onlyB"];

export function drawRows(canvas: HTMLCanvasElement, f: Frame, kept: Backdrop, rows: Rows): void {
  const g = prepare(canvas, f.scale.width, f.height);
  if (!g) return;
  column(g, f, 6);
  kept.draw(g, f, [rows], (own) => {
    grid(own, f, 6);
    for (const kind of ORDER) marks(own, f, rows, kind);
  });
  pointer(g, f);
}

function marks(g: CanvasRenderingContext2D, f: Frame, rows: Rows, kind: RowKind): void {
  const { scale, palette, height } = f;
  const colours = {
    same: palette.bar,
    differs: palette.moved,
    onlyA: palette.removed,
    onlyB: palette.added,
  };
  g.fillStyle = colours[kind];
  g.globalAlpha = kind === "same" ? 0.45 : 1;
  const wide = Math.max(kind === "same" ? 1 : 2, barWidth(scale));
  const lane = (height - 16) / 2;
  let drawnTo = -1;
  for (let r = 1; r <= rows.count; r++) {
    if (kindOfRow(rows, r) !== kind) continue;
    const x = xOf(scale, r) - wide / 2;
    if (x + wide - drawnTo < VISIBLE) continue;
    if (kind !== "onlyB") g.fillRect(x, 9, wide, lane);
    if (kind !== "onlyA") g.fillRect(x, 13 + lane, wide, lane);
    drawnTo = x + wide;
  }
  g.globalAlpha = 1;
}
