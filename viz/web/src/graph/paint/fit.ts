/**
 * How far a pattern fits, on top of the graph: the parts that do are filled and ticked, the one that does
 * not is filled in the colour of what is wrong, with the sign for "not equal". The signs say it without
 * colour, too, and keep a readable size.
 */
import { membersAt } from "../../model/fold/fold";
import { BOX_H, BOX_W } from "../../model/layered";
import type { Scene } from "../picture/scene";
import { drawable, paintEdge } from "./edges";
import { disc, paintRing, signScale } from "./marks";
import { cornerOf, levelOf } from "./nodes";
import type { Theme } from "./theme";

type Ctx = CanvasRenderingContext2D;

/** How far a pattern fits: the slots of its parts that do, and of the one that does not, and which slot
 * each of its names is bound to. */
export interface FitMarks {
  fits: readonly number[];
  fails: number | null;
  binds: readonly [string, number][];
}

/** How strongly a part is filled. */
const TINT = 0.16;

const isHere = (scene: Scene, slot: number): boolean =>
  !["none", "ghost"].includes(scene.state(scene.at(slot)));

/** The edges along which the pattern went: between parts that fit, and to the one that does not. */
export function paintFitEdges(
  ctx: Ctx,
  scene: Scene,
  theme: Theme,
  marks: FitMarks,
  zoom: number,
): void {
  const parts = new Set(marks.fits);
  const width = Math.max(2, 1.4 / zoom);
  const { timeline: t, fold } = scene.content.picture;
  for (const user of parts) {
    if (!isHere(scene, user)) continue;
    for (const member of membersAt(fold, user))
      for (const e of scene.sourceEdges(member)) {
        const source = t.edgeSrc[e]!;
        const fails = source === marks.fails;
        if ((fails || parts.has(source)) && drawable(scene, e))
          paintEdge(ctx, scene, e, fails ? theme.del : theme.accent, width);
      }
  }
}

export function paintFit(ctx: Ctx, scene: Scene, theme: Theme, marks: FitMarks, zoom: number): void {
  for (const slot of new Set(marks.fits))
    if (slot !== marks.fails && isHere(scene, slot)) paintPart(ctx, scene, theme, slot, zoom, true);
  if (marks.fails !== null && isHere(scene, marks.fails))
    paintPart(ctx, scene, theme, marks.fails, zoom, false);
}

function paintPart(
  ctx: Ctx,
  scene: Scene,
  theme: Theme,
  slot: number,
  zoom: number,
  fits: boolean,
): void {
  const { picture } = scene.content;
  const at = scene.at(slot);
  const color = fits ? theme.accent : theme.del;
  const [x, y] = [picture.x(at), picture.y(at)];
  ctx.globalAlpha = levelOf(zoom) === "far" ? 0.5 : TINT;
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.roundRect(x - BOX_W / 2, y - BOX_H / 2, BOX_W, BOX_H, cornerOf(scene.label(at).group));
  ctx.fill();
  ctx.globalAlpha = 1;
  paintRing(ctx, scene, at, color, zoom);
  const s = signScale(zoom);
  const [cx, cy] = [x + BOX_W / 2 - 2, y + BOX_H / 2];
  disc(ctx, theme, cx, cy, color, s);
  ctx.strokeStyle = theme.surface;
  ctx.lineWidth = 1.8 * s;
  ctx.beginPath();
  const line = (...points: [number, number][]): void =>
    points.forEach(([dx, dy], i) => {
      if (i) ctx.lineTo(cx + dx * s, cy + dy * s);
      else ctx.moveTo(cx + dx * s, cy + dy * s);
    });
  if (fits) line([-4, 0.5], [-1, 3.5], [4, -3]);
  else {
    line([-4, -2], [4, -2]);
    line([-4, 2], [4, 2]);
    line([-2.5, 5], [2.5, -5]);
  }
  ctx.stroke();
}
