/** Which lines of a list that draws only what is in view are drawn. Pure. */

/** Index of the first visible line and how many fit, with some to spare on both sides. */
export function visibleRange(
  scrollTop: number,
  height: number,
  lineHeight: number,
  total: number,
  spare = 8,
): { from: number; to: number } {
  const from = Math.max(0, Math.floor(scrollTop / lineHeight) - spare);
  const to = Math.min(total, Math.ceil((scrollTop + height) / lineHeight) + spare);
  return { from, to: Math.max(from, to) };
}
