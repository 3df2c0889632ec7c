/**
 * Marks on top of boxes: signs of change, binding letters, the selection ring, folded groups and
 * the stubs of hubs.
 *
 * Signs keep a readable size when the picture is small.
 */
import { titleOf, uidOf } from "../../model/content";
import { BOX_H, BOX_W } from "../../model/layered";
import { portOffset, trace } from "../../model/layout/route";
import type { Group } from "../../model/fold/neighbourhood";
import { BoxGraph, type Inside } from "../../model/fold/boxes";
import { membersAt } from "../../model/fold/fold";
import { cutMiddle } from "../../model/fold/words";
import type { NodeState, Scene } from "../picture/scene";
import type { Theme } from "./theme";
import { cornerOf, levelOf } from "./nodes";

type Ctx = CanvasRenderingContext2D;

/** Half the size of the pill of a folded group, px. */
export const PILL_W = 74;
export const PILL_H = 12;
/** Characters of the name of a node in a box. */
const HELD = 28;
/** Ops named on it at most. */
const NAMES = 3;

/** How much larger than the picture a sign is drawn. */
export function signScale(zoom: number): number {
  return zoom < 0.82 ? Math.min(1 / zoom, zoom < 0.35 ? 0.75 / zoom : 1.5) : 1;
}

/** The sign of a change on the top right corner. */
export function paintSign(ctx: Ctx, theme: Theme, x: number, y: number, state: NodeState, zoom: number): void {
  const scale = signScale(zoom);
  const cx = x + BOX_W / 2 - 2;
  const cy = y - BOX_H / 2;
  if (state === "replaced" && levelOf(zoom) === "far") {
    disc(ctx, theme, cx, cy, theme.add, scale);
    plusMinus(ctx, theme, cx, cy, scale);
  } else if (state === "replaced") {
    disc(ctx, theme, cx - 17 * scale, cy, theme.del, scale);
    bar(ctx, theme, cx - 17 * scale, cy, scale, false);
    disc(ctx, theme, cx, cy, theme.add, scale);
    bar(ctx, theme, cx, cy, scale, true);
  } else if (state === "removed" || state === "added") {
    disc(ctx, theme, cx, cy, state === "added" ? theme.add : theme.del, scale);
    bar(ctx, theme, cx, cy, scale, state === "added");
  } else if (state === "moved") {
    ctx.beginPath();
    const r = 9 * scale;
    ctx.moveTo(cx, cy - r);
    ctx.lineTo(cx + r, cy);
    ctx.lineTo(cx, cy + r);
    ctx.lineTo(cx - r, cy);
    ctx.closePath();
    ctx.lineWidth = 2 * scale;
    ctx.strokeStyle = theme.canvas;
    ctx.stroke();
    ctx.fillStyle = theme.mov;
    ctx.fill();
  }
}

export function disc(ctx: Ctx, theme: Theme, x: number, y: number, color: string, scale: number): void {
  ctx.beginPath();
  ctx.arc(x, y, 9 * scale, 0, 2 * Math.PI);
  ctx.lineWidth = 2 * scale;
  ctx.strokeStyle = theme.canvas;
  ctx.stroke();
  ctx.fillStyle = color;
  ctx.fill();
}

/** The bars of a minus or plus sign. */
function bar(ctx: Ctx, theme: Theme, x: number, y: number, s: number, plus: boolean): void {
  ctx.fillStyle = theme.surface;
  ctx.fillRect(x - 4 * s, y - 0.9 * s, 8 * s, 1.8 * s);
  if (plus) ctx.fillRect(x - 0.9 * s, y - 4 * s, 1.8 * s, 8 * s);
}

/** Both signs on one disc, where two discs would run into each other. */
function plusMinus(ctx: Ctx, theme: Theme, x: number, y: number, s: number): void {
  ctx.fillStyle = theme.surface;
  ctx.fillRect(x - 3.6 * s, y - 2.9 * s, 7.2 * s, 1.6 * s);
  ctx.fillRect(x - 0.8 * s, y - 5.7 * s, 1.6 * s, 7.2 * s);
  ctx.fillRect(x - 3.6 * s, y + 3.2 * s, 7.2 * s, 1.6 * s);
}

/** What changes inside a box: signs with counts on its top right corner, "\u22121 +39". */
export function paintInside(ctx: Ctx, theme: Theme, x: number, y: number, inside: Inside, zoom: number): void {
  const { removed, added, moved } = inside;
  if (levelOf(zoom) === "far") {
    const state = added && removed ? "replaced" : added ? "added" : removed ? "removed" : "moved";
    if (added || removed || moved) paintSign(ctx, theme, x, y, state, zoom);
    return;
  }
  const parts: [string, string][] = [];
  if (removed) parts.push([`\u2212${removed.toLocaleString("en")}`, theme.del]);
  if (added) parts.push([`+${added.toLocaleString("en")}`, theme.add]);
  if (moved) parts.push([`\u25c6${moved.toLocaleString("en")}`, theme.mov]);
  if (!parts.length) return;
  const s = signScale(zoom);
  ctx.font = `700 ${11 * s}px ${theme.mono}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const gap = 7 * s;
  const widths = parts.map(([words]) => ctx.measureText(words).width);
  const width = widths.reduce((a, b) => a + b, gap * (parts.length + 1));
  let at = x + BOX_W / 2 + 7 * s - width;
  const cy = y - BOX_H / 2 - 6 * s; // the words below it can be read
  ctx.beginPath();
  ctx.roundRect(at, cy - 9 * s, width, 18 * s, 9 * s);
  ctx.fillStyle = theme.surface;
  ctx.fill();
  ctx.strokeStyle = parts[0]![1];
  ctx.lineWidth = 1.6 * s;
  ctx.setLineDash([]);
  ctx.stroke();
  parts.forEach(([words, color], i) => {
    ctx.fillStyle = color;
    ctx.fillText(words, at + gap, cy + 3.9 * s);
    at += widths[i]! + gap;
  });
}

/** The handle that folds what was opened: a square with a bar, on the lower right corner. */
export function paintHandle(ctx: Ctx, theme: Theme, x: number, y: number, zoom: number): void {
  if (levelOf(zoom) === "far") return;
  const s = signScale(zoom);
  const [cx, cy] = handleAt(x, y);
  const half = HANDLE * s;
  ctx.beginPath();
  ctx.roundRect(cx - half, cy - half, 2 * half, 2 * half, 3 * s);
  ctx.fillStyle = theme.surface;
  ctx.fill();
  ctx.strokeStyle = theme.text2;
  ctx.lineWidth = 1.4 * s;
  ctx.setLineDash([]);
  ctx.stroke();
  ctx.fillStyle = theme.text2;
  ctx.fillRect(cx - 4 * s, cy - 0.8 * s, 8 * s, 1.6 * s);
}

/** Half the side of a handle, px. */
export const HANDLE = 7;

/** The middle of the handle of a node. */
export const handleAt = (x: number, y: number): [number, number] => [x + BOX_W / 2 - 4, y + BOX_H / 2];

/** The names that each slot is bound to, joined: two names may bind one node. */
export function namesBySlot(bindings: readonly [string, number][]): Map<number, string> {
  const names = new Map<number, string>();
  for (const [name, slot] of bindings)
    names.set(slot, names.has(slot) ? `${names.get(slot)!},${name}` : name);
  return names;
}

/** A pattern variable's name on the top left corner of the node that it bound. */
export function paintBinding(ctx: Ctx, theme: Theme, x: number, y: number, name: string, zoom: number): void {
  const s = signScale(zoom);
  const word = name.length > 6 ? `${name.slice(0, 5)}\u2026` : name;
  const half = Math.max(9, 4 + word.length * 3.4) * s;
  const cx = x - BOX_W / 2 + 2;
  // A word lies higher than a letter, so that the op below it can be read.
  const cy = y - BOX_H / 2 - (word.length > 1 ? 4 * s : 0);
  ctx.beginPath();
  ctx.roundRect(cx - 9 * s, cy - 9 * s, 2 * half, 18 * s, 9 * s);
  ctx.lineWidth = 2 * s;
  ctx.strokeStyle = theme.canvas;
  ctx.stroke();
  ctx.fillStyle = theme.accent;
  ctx.fill();
  ctx.fillStyle = theme.onAccent;
  ctx.font = `700 ${11 * s}px ${theme.mono}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(word, cx - 9 * s + half, cy + 3.8 * s);
  ctx.textAlign = "left";
}

/** Where the pass failed: a ring of its own, and an exclamation mark on the bottom left corner. */
export function paintFailure(ctx: Ctx, scene: Scene, theme: Theme, slot: number, zoom: number): void {
  const { picture } = scene.content;
  paintRing(ctx, scene, slot, theme.del, zoom);
  const s = signScale(zoom);
  const x = picture.x(slot) - BOX_W / 2 + 2;
  const y = picture.y(slot) + BOX_H / 2;
  disc(ctx, theme, x, y, theme.del, s);
  ctx.fillStyle = theme.surface;
  ctx.fillRect(x - 1.1 * s, y - 5 * s, 2.2 * s, 6.2 * s);
  ctx.fillRect(x - 1.1 * s, y + 2.8 * s, 2.2 * s, 2.2 * s);
}

/** A ring outside the border: selected (accent) or under the pointer. */
export function paintRing(ctx: Ctx, scene: Scene, slot: number, color: string, zoom: number): void {
  const { picture } = scene.content;
  const gap = Math.max(4, 2.5 / zoom);
  ctx.strokeStyle = color;
  ctx.lineWidth = Math.max(2, 1.6 / zoom);
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.roundRect(
    picture.x(slot) - BOX_W / 2 - gap,
    picture.y(slot) - BOX_H / 2 - gap,
    BOX_W + 2 * gap,
    BOX_H + 2 * gap,
    cornerOf(scene.label(slot).group) + gap,
  );
  ctx.stroke();
}

/** The name of the selected node under the box that it is folded into: "u12 MUL". */
export function paintHeld(ctx: Ctx, scene: Scene, theme: Theme, slot: number, zoom: number): void {
  const { picture, after } = scene.content;
  const c = scene.node(slot);
  if (c < 0) return;
  const words = cutMiddle(`${uidOf(after.bundle, c)} ${titleOf(after.bundle, c)}`, HELD);
  const s = signScale(zoom);
  ctx.font = `600 ${11 * s}px ${theme.mono}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const width = ctx.measureText(words).width + 14 * s;
  const x = picture.x(scene.at(slot));
  const y = picture.y(scene.at(slot)) + BOX_H / 2 + 5 * s;
  ctx.beginPath();
  ctx.roundRect(x - width / 2, y, width, 18 * s, 4 * s);
  ctx.fillStyle = theme.accent;
  ctx.fill();
  ctx.fillStyle = theme.surface;
  ctx.fillText(words, x, y + 13 * s);
}

/** Folded nodes: a pill in the place of their first one, tied to the shown nodes it hangs at. */
export function paintGroup(
  ctx: Ctx,
  scene: Scene,
  theme: Theme,
  group: Group,
  zoom: number,
  ringed: boolean,
): void {
  const { picture } = scene.content;
  const at = group.heads[0]!;
  const x = picture.x(at);
  const y = picture.y(at);
  ctx.strokeStyle = theme.edge;
  ctx.lineWidth = Math.max(1.2, 0.7 / zoom);
  const heads: [number, number][] = [];
  ctx.beginPath();
  const inset = BOX_H / 2 - PILL_H;
  for (const anchor of group.anchors) {
    const state = scene.state(anchor);
    if (state === "none" || state === "ghost") continue;
    const ax = picture.x(anchor);
    const ar = picture.row(anchor);
    // The pill lies where its first node would; an anchor of another row order gets no line.
    if (group.side === "below" ? ar >= picture.row(at) : ar <= picture.row(at)) continue;
    if (group.side === "below")
      trace(ctx, ax, ar, x, picture.row(at), picture.rail(anchor), picture.pitch);
    else {
      trace(ctx, x, picture.row(at), ax, ar, picture.rail(at), picture.pitch);
      heads.push([ax, picture.y(anchor) - BOX_H / 2]);
    }
  }
  if (group.side === "below") heads.push([x, y - PILL_H]);
  // The pill is lower than a box: close the gap to its edge.
  ctx.moveTo(x, y - PILL_H);
  ctx.lineTo(x, y - PILL_H - (group.side === "below" ? inset : 0));
  ctx.moveTo(x, y + PILL_H);
  ctx.lineTo(x, y + PILL_H + (group.side === "above" ? inset : 0));
  ctx.stroke();
  ctx.fillStyle = theme.edge;
  ctx.beginPath();
  for (const [hx, hy] of heads) {
    ctx.moveTo(hx - 3.5, hy - 6);
    ctx.lineTo(hx + 3.5, hy - 6);
    ctx.lineTo(hx, hy);
  }
  ctx.fill();
  ctx.beginPath();
  ctx.roundRect(x - PILL_W, y - PILL_H, 2 * PILL_W, 2 * PILL_H, PILL_H);
  ctx.fillStyle = theme.surface2;
  ctx.fill();
  ctx.strokeStyle = ringed ? theme.accent : theme.line2;
  ctx.lineWidth = ringed ? 2 : Math.max(1, 0.7 / zoom);
  ctx.globalAlpha = ringed ? 1 : 0.55;
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.text2;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const level = levelOf(zoom);
  const size = level === "near" ? 11 : 11 / zoom;
  if (level !== "far") {
    ctx.font = `500 ${size}px ${theme.sans}`;
    ctx.fillText(pillWords(ctx, group, 2 * PILL_W - 14), x, y + size * 0.36);
  }
  ctx.textAlign = "left";
}

/** "5 more: MAX, STORE, SINK", or as many whole names as there is room for, or "+5". */
function pillWords(ctx: Ctx, group: Group, room: number): string {
  const count = group.count.toLocaleString("en") + (group.more ? "+" : "");
  for (let n = Math.min(NAMES, group.names.length); n > 0; n--) {
    const names = group.names.slice(0, n).join(", ") + (n < group.names.length ? ", \u2026" : "");
    for (const words of [`${count} more: ${names}`, `+${count} ${names}`])
      if (ctx.measureText(words).width <= room) return words;
  }
  return `+${count}`;
}

/** Hubs in view: short ends at the ports of their users, and a count at the hub itself. */
export function paintStubs(ctx: Ctx, scene: Scene, theme: Theme, slots: readonly number[], zoom: number): void {
  if (levelOf(zoom) === "far") return;
  const { picture, after, before } = scene.content;
  const { stub, layout, place, timeline: t } = picture;
  ctx.strokeStyle = theme.edge;
  ctx.fillStyle = theme.edge;
  ctx.lineWidth = 1.2;
  const ends: [number, number][] = [];
  for (const s of slots) {
    if (layout.hub[place[s]!]! & 2) continue;
    if (scene.box(s)) {
      if (membersAt(picture.fold, s).some((m) => [...scene.sourceEdges(m)].some((e) => stub[e])))
        ends.push([picture.x(s), picture.y(s) - BOX_H / 2]);
      continue;
    }
    const edges = scene.sourceEdges(s);
    edges.forEach((e, i) => {
      if (stub[e] && picture.has(t.edgeSrc[e]!))
        ends.push([picture.x(s) + portOffset(i, edges.length), picture.y(s) - BOX_H / 2]);
    });
  }
  ctx.beginPath();
  for (const [x, y] of ends) {
    ctx.moveTo(x, y - 9);
    ctx.lineTo(x, y);
  }
  ctx.stroke();
  ctx.beginPath();
  for (const [x, y] of ends) {
    ctx.moveTo(x + 2, y - 9);
    ctx.arc(x, y - 9, 2, 0, 2 * Math.PI);
  }
  ctx.fill();
  if (levelOf(zoom) !== "near") return;
  ctx.font = `500 10px ${theme.sans}`;
  ctx.fillStyle = theme.text3;
  ctx.textAlign = "center";
  for (const s of slots) {
    const hub = layout.hub[place[s]!]!;
    const replay = scene.side === "before" ? before : after;
    if (hub & 1) {
      const users = new BoxGraph(replay, replay, picture.fold).users(s).length;
      ctx.fillText(`${users.toLocaleString("en")} users`, picture.x(s), picture.y(s) + BOX_H / 2 + 11);
    }
    if (hub & 2) {
      const sources = scene.sourceEdges(s).length;
      ctx.fillText(`${sources.toLocaleString("en")} sources`, picture.x(s), picture.y(s) - BOX_H / 2 - 4);
    }
  }
  ctx.textAlign = "left";
}
