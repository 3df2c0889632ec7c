/**
 * The course of an edge: down from its source, perhaps along a rail, down into its user.
 *
 * One place for drawing, hit testing and measuring, so that all three mean the same curve. Never
 * knows a canvas.
 */
import { BOX_H, RAIL_SPAN } from "./rails";

/** How far before a row a rail's bend ends, px from the row's centre line. */
const BEND = BOX_H / 2 - 2;
/** Distance of two ports on the top of a box, px, and the room that all ports share. */
const PORT = 30;
const PORTS = 112;

/** Offset of source `i` of `n` from the middle of its user's top, px. */
export function portOffset(i: number, n: number): number {
  const gap = n > 1 ? Math.min(PORT, PORTS / (n - 1)) : 0;
  return (i - (n - 1) / 2) * gap;
}

/** Receives the course of an edge; the methods of a canvas path fit. */
export interface PathSink {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void;
}

/**
 * Traces an edge from the bottom of a box at row `from` to the top of one at row `to`.
 *
 * @param x1 centre x of the source
 * @param x2 x of the port at the user
 * @param rail x of the source's rail, NaN without one
 * @param pitch distance of two rows, px
 */
export function trace(
  out: PathSink,
  x1: number,
  from: number,
  x2: number,
  to: number,
  rail: number,
  pitch: number,
): void {
  const y1 = from * pitch + BOX_H / 2;
  const y2 = to * pitch - BOX_H / 2;
  out.moveTo(x1, y1);
  if (to - from < RAIL_SPAN || Number.isNaN(rail)) {
    bend(out, x1, y1, x2, y2);
    return;
  }
  const top = (from + 1) * pitch - BEND;
  const bottom = (to - 1) * pitch + BEND;
  bend(out, x1, y1, rail, top);
  out.lineTo(rail, bottom);
  bend(out, rail, bottom, x2, y2);
}

/** A vertical S-curve; an edge that points up (of a broken cycle) swings out. */
function bend(out: PathSink, x1: number, y1: number, x2: number, y2: number): void {
  const reach = y2 >= y1 ? Math.max(10, (y2 - y1) / 2) : 60;
  out.bezierCurveTo(x1, y1 + reach, x2, y2 - reach, x2, y2);
}
