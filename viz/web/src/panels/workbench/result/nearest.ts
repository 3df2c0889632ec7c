/** Which cell of a picture a click means. Pure. */

/** The cell that differs and is nearest to a place, as the picture is drawn: a square, whatever its
 * table; null where none differs. */
export function nearest(
  cells: readonly number[],
  { width, height }: { width: number; height: number },
  x: number,
  y: number,
): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const cell of cells) {
    const across = ((cell % width) - x) / width;
    const down = (Math.floor(cell / width) - y) / height;
    const apart = across ** 2 + down ** 2;
    if (apart < least) [best, least] = [cell, apart];
  }
  return best;
}
