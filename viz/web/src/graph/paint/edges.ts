/**
 * Edges: vertical curves with an arrow at the user, in batches of one style.
 *
 * Draws in world coordinates on a context that the pane has transformed.
 */
import { BOX_H } from "../../model/layered";
import { type PathSink, portOffset } from "../../model/layout/route";
import type { Rect } from "../view/rect";
import { ORDER } from "../../model/content";
import { cut } from "../picture/labels";
import type { EdgeState, Scene } from "../picture/scene";
import { levelOf } from "./nodes";
import type { Theme } from "./theme";

/** Edges per stroke: long paths make the rasteriser slow, short ones the calls. */
const BATCH = 300;
/** Below this zoom edges are polylines without arrows. */
const CURVES = 0.25;
const ARROWS = 0.3;
/** Of an edge that says what comes before what, px. */
const ORDER_DASH = [3, 3];
/** Sources of a node whose names have room above its box, their size, and their characters. */
const MOST_NAMED = 4;
const ROLE_SIZE = 7.5;
const ROLE_ROOM = 5;
/** Of the last source, beside which there is none. */
const LAST_ROOM = 10;
/** Length of what is left of a hub's changed edge, px. */
const STUB = 12;

/** Replaces curves by their chords. */
class Chords implements PathSink {
  constructor(private readonly ctx: CanvasRenderingContext2D) {}
  moveTo(x: number, y: number): void {
    this.ctx.moveTo(x, y);
  }
  lineTo(x: number, y: number): void {
    this.ctx.lineTo(x, y);
  }
  bezierCurveTo(_ax: number, _ay: number, _bx: number, _by: number, x: number, y: number): void {
    this.ctx.lineTo(x, y);
  }
}

/** The unchanged edges in view; yields between batches, so that a large view can be sliced. */
export function* paintSameEdges(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  theme: Theme,
  rect: Rect,
  zoom: number,
): Generator<void, void> {
  const edges: number[] = [];
  const orders: number[] = [];
  const lines = new Set<number>();
  scene.visitEdges(rect, (e) => {
    if (scene.edgeState(e) !== "same") return;
    const line = scene.lineOf(e);
    if (line >= 0 && lines.has(line)) return;
    lines.add(line);
    (scene.role(e) === ORDER ? orders : edges).push(e);
  });
  yield;
  ctx.strokeStyle = theme.edge;
  ctx.fillStyle = theme.edge;
  ctx.lineWidth = Math.max(1.2, 0.7 / zoom);
  ctx.setLineDash([]);
  // Thousands of lines in few pixels: let density show instead of a solid block.
  ctx.globalAlpha = zoom < CURVES ? Math.max(0.22, Math.min(0.8, 6000 / (edges.length + 1))) : 1;
  const { picture } = scene.content;
  const sink: PathSink = zoom < CURVES ? new Chords(ctx) : ctx;
  for (let i = 0; i < edges.length; i += BATCH) {
    ctx.beginPath();
    for (const e of edges.slice(i, i + BATCH))
      picture.trace(sink, e, scene.port(e), scene.ports(e));
    ctx.stroke();
    if (i % (8 * BATCH) === 0) yield;
  }
  ctx.setLineDash(ORDER_DASH);
  ctx.lineWidth = Math.max(1, 0.6 / zoom);
  for (let i = 0; i < orders.length; i += BATCH) {
    ctx.beginPath();
    for (const e of orders.slice(i, i + BATCH))
      picture.trace(sink, e, scene.port(e), scene.ports(e));
    ctx.stroke();
  }
  ctx.setLineDash([]);
  if (zoom > ARROWS) {
    ctx.beginPath();
    for (const e of edges) arrow(ctx, scene, e, 1);
    for (const e of orders) arrow(ctx, scene, e, 1);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  yield;
  paintRoles(ctx, scene, theme, zoom, edges);
}

/** What sources are to their users, beside where their edges end; where `zoom` leaves room. */
function paintRoles(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  theme: Theme,
  zoom: number,
  edges: Iterable<number>,
): void {
  if (levelOf(zoom) !== "near") return;
  ctx.font = `${ROLE_SIZE}px ${theme.mono}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.lineJoin = "round";
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.surface;
  ctx.fillStyle = theme.text3;
  for (const e of edges) {
    const ports = scene.ports(e);
    const role = ports > MOST_NAMED ? "" : scene.role(e);
    if (!role || role === ORDER || !drawable(scene, e)) continue;
    const [x, y] = head(scene, e);
    const text = cut(role, scene.port(e) === ports - 1 ? LAST_ROOM : ROLE_ROOM);
    ctx.strokeText(text, x + 4, y - 3);
    ctx.fillText(text, x + 4, y - 3);
  }
}

interface EdgeStyle {
  color: (t: Theme) => string;
  width: number;
  dash: number[];
}

const STYLES: Record<Exclude<EdgeState, "none" | "same">, EdgeStyle> = {
  removed: { color: (t) => t.del, width: 1.5, dash: [5, 3] },
  added: { color: (t) => t.add, width: 2, dash: [] },
  moved: { color: (t) => t.mov, width: 2.4, dash: [] },
};

/** The changed edges of the step; few, always drawn. */
export function paintChangedEdges(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  theme: Theme,
  zoom: number,
): void {
  const { diff, picture } = scene.content;
  const edges = new Set<number>();
  if (scene.side !== "after") for (const e of diff.before.keys()) edges.add(e);
  if (scene.side !== "before") for (const e of diff.after.keys()) edges.add(e);
  for (const e of edges) {
    const state = scene.edgeState(e);
    if (state === "none" || state === "same" || !drawable(scene, e)) continue;
    const style = STYLES[state];
    if (picture.stub[e]) {
      if (zoom > ARROWS) paintStubEnd(ctx, scene, e, style.color(theme));
      continue;
    }
    const scale = Math.max(1, 0.6 / zoom);
    const dash = style.dash.map((d) => d * scale);
    paintEdge(ctx, scene, e, style.color(theme), style.width * scale, dash, state !== "moved");
    if (state === "moved") {
      const [x, y] = head(scene, e);
      ctx.beginPath();
      const s = scale;
      ctx.moveTo(x, y - 7 * s);
      ctx.lineTo(x + 5 * s, y - 2 * s);
      ctx.lineTo(x, y + 3 * s);
      ctx.lineTo(x - 5 * s, y - 2 * s);
      ctx.fill();
    }
  }
  paintRoles(ctx, scene, theme, zoom, edges);
}

/** A changed edge of a hub: short ends at both nodes, as its other edges have. */
function paintStubEnd(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  e: number,
  color: string,
): void {
  const { picture } = scene.content;
  const source = picture.timeline.edgeSrc[e]!;
  const [hx, hy] = head(scene, e);
  const sx = picture.x(source);
  const sy = picture.y(source) + BOX_H / 2;
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(sx, sy);
  ctx.lineTo(sx, sy + STUB);
  ctx.moveTo(hx, hy - STUB);
  ctx.lineTo(hx, hy);
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(sx, sy + STUB, 3, 0, 2 * Math.PI);
  ctx.arc(hx, hy - STUB, 3, 0, 2 * Math.PI);
  ctx.fill();
}

/** Can the edge be drawn: both ends have a place and are in the part shown? */
export function drawable(scene: Scene, e: number): boolean {
  const { timeline: t } = scene.content.picture;
  return (
    scene.connects(e) &&
    scene.state(scene.at(t.edgeSrc[e]!)) !== "none" &&
    scene.state(scene.at(t.edgeUser[e]!)) !== "none" &&
    scene.edgeState(e) !== "none"
  );
}

/** One edge in a style of its own, with its arrow. */
export function paintEdge(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  e: number,
  color: string,
  width: number,
  dash: number[] = [],
  arrows = true,
): void {
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  scene.content.picture.trace(ctx, e, scene.port(e), scene.ports(e));
  ctx.stroke();
  ctx.setLineDash([]);
  if (!arrows) return;
  ctx.beginPath();
  arrow(ctx, scene, e, Math.max(1, width / 1.8));
  ctx.fill();
}

/** Where the edge enters its user. */
function head(scene: Scene, e: number): [number, number] {
  const { picture } = scene.content;
  const user = picture.timeline.edgeUser[e]!;
  return [
    picture.x(user) + portOffset(scene.port(e), scene.ports(e)),
    picture.y(user) - BOX_H / 2,
  ];
}

function arrow(ctx: CanvasRenderingContext2D, scene: Scene, e: number, scale: number): void {
  const [x, y] = head(scene, e);
  ctx.moveTo(x - 3.5 * scale, y - 6 * scale);
  ctx.lineTo(x + 3.5 * scale, y - 6 * scale);
  ctx.lineTo(x, y);
  ctx.closePath();
}
