/** A canvas in CSS pixels, as sharp as the screen. */

/** Its context, sized and cleared; null while it has no room. */
export function prepare(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const g = canvas.getContext("2d");
  if (!g || !width || !height) return null;
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  // Setting a size clears and costs, even if it is the same.
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}
