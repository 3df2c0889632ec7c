/**
 * Boxes of nodes, in the three levels of detail.
 *
 * far: a block in the op's hue. middle: glyph and op name at a constant size. near: op, argument,
 * dtype, shape and axis letters. Draws in world coordinates; text at the middle level is divided
 * by the zoom, so that it stays 11 px.
 */
import { BOX_H, BOX_W } from "../../model/layered";
import { cutMiddle } from "../../model/fold/words";
import { OP_GROUPS, type OpGroup } from "../../model/ops";
import { cut, type Label } from "../picture/labels";
import type { NodeState, Scene } from "../picture/scene";
import type { Theme } from "./theme";

export type Level = "far" | "middle" | "near";

export function levelOf(zoom: number): Level {
  return zoom < 0.35 ? "far" : zoom < 0.82 ? "middle" : "near";
}

type Ctx = CanvasRenderingContext2D;

const HALF_W = BOX_W / 2;
const HALF_H = BOX_H / 2;
/** How far the sheet under a folded box sticks out, px. */
const SHEET = 4;
/** Least size of a changed node on the screen, px. */
const LEAST = 4;

export function cornerOf(group: OpGroup): number {
  return group === "range" ? HALF_H : group === "memory" ? 2 : 6;
}

/** Unchanged nodes at the far level: one fill per hue. */
export function paintBlocks(ctx: Ctx, scene: Scene, theme: Theme, slots: number[], zoom: number): void {
  const { picture } = scene.content;
  const byGroup = new Map<OpGroup, number[]>(OP_GROUPS.map((g) => [g, []]));
  for (const s of slots) byGroup.get(scene.group(s))!.push(s);
  const w = Math.max(BOX_W, 1.5 / zoom);
  const h = Math.max(BOX_H, 1 / zoom);
  for (const [group, list] of byGroup) {
    ctx.fillStyle = theme.op[group];
    for (const s of list) ctx.fillRect(picture.x(s) - w / 2, picture.y(s) - h / 2, w, h);
  }
}

/** Unchanged nodes at the middle and near levels. */
export function paintBoxes(ctx: Ctx, scene: Scene, theme: Theme, slots: number[], zoom: number): void {
  const { picture } = scene.content;
  ctx.fillStyle = theme.surface;
  ctx.strokeStyle = theme.line2;
  ctx.lineWidth = Math.max(1, 0.7 / zoom);
  ctx.setLineDash([]);
  const path = new Path2D();
  // What is folded lies on a second sheet.
  const sheets = new Path2D();
  for (const s of slots)
    if (scene.label(s).folded)
      sheets.roundRect(picture.x(s) - HALF_W + SHEET, picture.y(s) - HALF_H + SHEET, BOX_W, BOX_H, 6);
  ctx.fill(sheets);
  ctx.stroke(sheets);
  for (const s of slots)
    path.roundRect(
      picture.x(s) - HALF_W,
      picture.y(s) - HALF_H,
      BOX_W,
      BOX_H,
      cornerOf(scene.label(s).group),
    );
  ctx.fill(path);
  ctx.globalAlpha = 0.55;
  ctx.stroke(path);
  ctx.globalAlpha = 1;
  for (const s of slots) glyph(ctx, theme, scene.label(s).group, picture.x(s), picture.y(s));
  text(ctx, scene, theme, slots, zoom, theme.text);
}

/** Words of many boxes, one font after the other: changing the font is what costs. */
function text(ctx: Ctx, scene: Scene, theme: Theme, slots: number[], zoom: number, color: string): void {
  const { picture } = scene.content;
  ctx.textBaseline = "alphabetic";
  const label = (s: number): Label => scene.label(s);
  if (levelOf(zoom) === "middle") {
    ctx.textAlign = "center";
    ctx.fillStyle = color;
    for (const size of [PLAIN / zoom, SMALL / zoom]) {
      ctx.font = `650 ${size}px ${theme.mono}`;
      for (const s of slots) {
        const name = label(s);
        if (nameSize(name, zoom) !== size) continue;
        ctx.fillText(shortWords(name, roomAt(size)), picture.x(s) + 6, picture.y(s) + size * 0.36);
      }
    }
    ctx.textAlign = "left";
    return;
  }
  ctx.textAlign = "left";
  ctx.font = `650 12px ${theme.mono}`;
  ctx.fillStyle = color;
  for (const s of slots)
    ctx.fillText(label(s).op, left(picture.x(s)), picture.y(s) + titleY(label(s)));
  ctx.font = `400 11px ${theme.mono}`;
  ctx.fillStyle = theme.text3;
  for (const s of slots) ctx.fillText(label(s).detail, left(picture.x(s)), picture.y(s) + 11);
  ctx.textAlign = "right";
  ctx.fillStyle = theme.text2;
  for (const s of slots)
    if (label(s).arg)
      ctx.fillText(label(s).arg, right(picture.x(s)), picture.y(s) + titleY(label(s)));
  ctx.font = `600 10.5px ${theme.mono}`;
  for (const s of slots) letters(ctx, theme, label(s).ranges, right(picture.x(s)), picture.y(s) + 11);
  ctx.textAlign = "left";
}

/** Sizes of a name where nothing else has room; names that do not fit, such as "broadcast", are written small. */
const PLAIN = 11;
const SMALL = 9.2;
/** How many characters of a size have room. */
const roomAt = (size: number): number => Math.floor((BOX_W - 26) / (size * 0.61));
const nameSize = (label: Label, zoom: number): number =>
  (label.short.length <= roomAt(PLAIN / zoom) ? PLAIN : SMALL) / zoom;

/** What tells expressions apart is often their end. */
const shortWords = (l: Label, room: number): string =>
  l.folded ? cutMiddle(l.short, room) : cut(l.short, room);

/** Baseline of the title: in the middle of the box if there is no second line. */
const titleY = (l: Label): number => (l.detail || l.ranges.length ? -2 : 4);
const left = (x: number): number => x - HALF_W + 22;
const right = (x: number): number => x + HALF_W - 8;

/** Axis letters, each in the colour of its kind, from the right. */
function letters(ctx: Ctx, theme: Theme, ranges: readonly string[], x: number, y: number): void {
  let at = x;
  for (let i = ranges.length - 1; i >= 0; i--) {
    const word = ranges[i]!;
    ctx.fillStyle = theme.range[word[0] ?? ""] ?? theme.text3;
    ctx.fillText(word, at, y);
    at -= (word.length + 1) * 6.4;
  }
}

/** The shape that says the op's group besides its colour. */
export function glyph(ctx: Ctx, theme: Theme, group: OpGroup, x: number, y: number): void {
  const x0 = x - HALF_W;
  ctx.fillStyle = theme.op[group];
  if (group === "range") {
    ctx.beginPath();
    ctx.arc(x0 + 13, y, 4, 0, 2 * Math.PI);
    ctx.fill();
  } else if (group === "const") {
    ctx.strokeStyle = theme.op.const;
    ctx.lineWidth = 2;
    ctx.strokeRect(x0 + 6, y - 4, 8, 8);
  } else if (group === "control") {
    ctx.fillRect(x0 + 5, y - HALF_H + 6, 2, BOX_H - 12);
    ctx.fillRect(x0 + 9, y - HALF_H + 6, 2, BOX_H - 12);
  } else if (group === "reduce") {
    ctx.beginPath();
    ctx.moveTo(x0 + 5, y - 5);
    ctx.lineTo(x0 + 15, y - 5);
    ctx.lineTo(x0 + 10, y + 5);
    ctx.fill();
  } else if (group === "memory") {
    ctx.fillRect(x0 + 6, y - HALF_H + 6, 4, BOX_H - 12);
  } else {
    ctx.beginPath();
    ctx.roundRect(x0 + 6, y - HALF_H + 6, 4, BOX_H - 12, 2);
    ctx.fill();
  }
}

/** One changed, lit or empty place, on top of everything unchanged. */
export function paintChanged(
  ctx: Ctx,
  scene: Scene,
  theme: Theme,
  slot: number,
  state: NodeState,
  zoom: number,
  hatch: CanvasPattern | null,
): void {
  const { picture, labels, before } = scene.content;
  const x = picture.x(slot);
  const y = picture.y(slot);
  const label = scene.label(slot);
  const level = levelOf(zoom);
  if (level === "far") {
    block(ctx, theme, x, y, state, zoom);
    return;
  }
  const path = new Path2D();
  path.roundRect(x - HALF_W, y - HALF_H, BOX_W, BOX_H, cornerOf(label.group));
  const thick = Math.max(1, 0.75 / zoom);
  if (state === "ghost") {
    ctx.strokeStyle = theme.line2;
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = thick;
    ctx.setLineDash([2, 4]);
    ctx.stroke(path);
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    return;
  }
  ctx.fillStyle =
    state === "removed" ? theme.delbg : state === "added" || state === "replaced" ? theme.addbg : theme.surface;
  ctx.fill(path);
  if (state === "removed" && hatch) {
    ctx.save();
    ctx.globalAlpha = 0.13;
    ctx.fillStyle = hatch;
    ctx.fill(path);
    ctx.restore();
  }
  ctx.strokeStyle =
    state === "removed" ? theme.del : state === "moved" ? theme.mov : state === "same" ? theme.text2 : theme.add;
  ctx.lineWidth = (state === "removed" || state === "moved" ? 1.6 : state === "same" ? 1.4 : 2) * thick;
  if (state === "removed") ctx.setLineDash([5, 3]);
  ctx.stroke(path);
  ctx.setLineDash([]);
  glyph(ctx, theme, label.group, x, y);
  const color = state === "removed" ? theme.del : state === "added" || state === "replaced" ? theme.add : theme.text;
  if (state === "replaced" && level === "near") {
    replacedTitle(ctx, theme, labels.of(before.nodeOf(slot)), label, x, y);
    return;
  }
  text(ctx, scene, theme, [slot], zoom, color);
  if (state === "removed") strike(ctx, theme, label, x, y, zoom);
}

/** Old name struck, new name beside it: other content in the same place, in the merged view. */
function replacedTitle(ctx: Ctx, theme: Theme, was: Label, now: Label, x: number, y: number): void {
  ctx.font = `650 12px ${theme.mono}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const old = cut(was.op, 7);
  const room = 13 - old.length;
  const lx = left(x);
  ctx.fillStyle = theme.del;
  ctx.fillText(old, lx, y - 2);
  const width = ctx.measureText(old).width;
  ctx.fillRect(lx, y - 6.6, width, 1.2);
  ctx.fillStyle = theme.add;
  ctx.fillText(cut(now.op, room), lx + width + 7, y - 2);
  ctx.font = `400 11px ${theme.mono}`;
  ctx.fillStyle = theme.text3;
  ctx.fillText(now.detail, lx, y + 11);
}

function strike(ctx: Ctx, theme: Theme, label: Label, x: number, y: number, zoom: number): void {
  ctx.fillStyle = theme.del;
  if (levelOf(zoom) === "near") {
    ctx.font = `650 12px ${theme.mono}`;
    ctx.fillRect(left(x), y + titleY(label) - 4.6, ctx.measureText(label.op).width, 1.3);
    return;
  }
  const size = nameSize(label, zoom);
  ctx.font = `650 ${size}px ${theme.mono}`;
  const width = ctx.measureText(cut(label.short, roomAt(size))).width;
  ctx.fillRect(x + 6 - width / 2, y - 0.6 / zoom, width, 1.2 / zoom);
}

/** A change at the far level: a filled block that can be seen at any zoom. */
function block(ctx: Ctx, theme: Theme, x: number, y: number, state: NodeState, zoom: number): void {
  const w = Math.max(BOX_W, LEAST / zoom);
  const h = Math.max(BOX_H, LEAST / zoom);
  if (state === "ghost") {
    ctx.strokeStyle = theme.line2;
    ctx.lineWidth = 0.8 / zoom;
    ctx.strokeRect(x - w / 2, y - h / 2, w, h);
    return;
  }
  const color = { removed: theme.del, added: theme.add, replaced: theme.add, moved: theme.mov };
  ctx.fillStyle = state === "same" || state === "none" ? theme.text2 : color[state];
  ctx.fillRect(x - w / 2, y - h / 2, w, h);
}
