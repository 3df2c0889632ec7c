/**
 * The whole picture in a corner, with a frame around what is in view; a press goes there.
 *
 * Takes the corner where it covers least, far from the change, and stays there through all steps
 * of a pass, unless it would cover what changed. Hidden while everything fits and in panes too low
 * for it. The blocks are drawn once per step, the frame at every move.
 */
import { membersAt } from "../model/fold/fold";
import { BOX_W } from "../model/layout/layered";
import { OP_GROUPS, type OpGroup } from "../model/ops";
import type { Camera } from "./camera";
import { context } from "./pane";
import type { Scene } from "./scene";
import type { Theme } from "./theme";

/** Size in a wide window and in one of less than so many px. */
const LARGE_SIZE = [124, 92] as const;
const SMALL_SIZE = [100, 74] as const;
const WIDE = 1440;
/** In a lower pane it would cover too much of the graph, px. */
const LOWEST = 330;
/** Distance from the edges of the pane, and around the blocks inside, px. */
const INSET = 12;
const MARGIN = 6;
/** A changed node under the map is as bad as so many others. */
const CHANGED = 100;
/** So many px away from the change are worth one covered node. */
const AWAY = 400;
/** Changed nodes looked at. */
const MOST = 60;
/** Blocks smaller than this are drawn this large, px. */
const LEAST = 1.2;
/** Height of a block in the world, lower than a box, so that rows stay apart, px. */
const BLOCK_H = 26;
/** A changed block is larger by this on each side, px. */
const GROWN = 0.7;
/** How much of a folded node's colour is left. */
const FOLDED = 0.35;
/** From this many nodes on, blocks are drawn anew at most every so often, ms. */
const LARGE = 3000;
const WAIT = 250;

export class Minimap {
  readonly element: HTMLCanvasElement;
  private readonly blocks = document.createElement("canvas");
  private readonly ctx: CanvasRenderingContext2D;
  private width: number = LARGE_SIZE[0];
  private height: number = LARGE_SIZE[1];
  /** 0 top left, 1 top right, 2 bottom left, 3 bottom right. */
  private corner = 2;
  /** The pass that the corner was chosen in. */
  private settledIn = -1;
  /** The corner may have to change. */
  private unsettled = true;
  private scale = 1;
  private left = 0;
  private top = 0;
  private scene: Scene | null = null;
  private stale = true;
  private drawn = -Infinity;

  constructor(
    private theme: Theme,
    go: (worldX: number, worldY: number) => void,
  ) {
    this.element = document.createElement("canvas");
    this.element.className = "stage-mini";
    this.element.setAttribute("aria-hidden", "true");
    this.ctx = context(this.element);
    const press = (event: PointerEvent): void => {
      if (!(event.buttons & 1)) return;
      event.preventDefault();
      event.stopPropagation();
      const box = this.element.getBoundingClientRect();
      go(
        (event.clientX - box.left - this.left) / this.scale,
        (event.clientY - box.top - this.top) / this.scale,
      );
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      press(event);
    });
    this.element.addEventListener("pointermove", press);
  }

  setScene(scene: Scene | null, theme: Theme): void {
    this.scene = scene;
    this.theme = theme;
    this.stale = true;
    this.unsettled = true;
  }

  /** The pane has another size. */
  resize(): void {
    this.stale = true;
    this.unsettled = true;
  }

  /** Goes to the corner that costs least, unless the present one will do. */
  private settle(scene: Scene, camera: Camera): void {
    const costs = [0, 1, 2, 3].map((c) => this.cost(scene, camera, c));
    const best = costs.indexOf(Math.min(...costs));
    const here = costs[this.corner]!;
    const { rewrite } = scene.content.after.bundle;
    const stepped = rewrite === this.settledIn;
    this.settledIn = rewrite;
    if (here >= CHANGED || (!stepped && here > costs[best]! + 1)) this.corner = best;
    const { style } = this.element;
    style.left = this.corner & 1 ? "auto" : `${INSET}px`;
    style.right = this.corner & 1 ? `${INSET}px` : "auto";
    style.top = this.corner & 2 ? "auto" : `${INSET}px`;
    style.bottom = this.corner & 2 ? `${INSET}px` : "auto";
    style.width = `${this.width}px`;
    style.height = `${this.height}px`;
  }

  /** Nodes that the map covers in a corner; those of the change count most, then their nearness. */
  private cost(scene: Scene, camera: Camera, corner: number): number {
    const { picture, diff } = scene.content;
    const left = corner & 1 ? camera.width - INSET - this.width : INSET;
    const top = corner & 2 ? camera.height - INSET - this.height : INSET;
    const [x0, y0] = camera.toWorld(left, top);
    const [x1, y1] = camera.toWorld(left + this.width, top + this.height);
    let cost = 0;
    scene.visitNodes({ left: x0, top: y0, right: x1, bottom: y1 }, (s) => {
      if (scene.state(s) !== "none") cost += diff.nodes.has(s) ? CHANGED : 1;
    });
    let near = Infinity;
    for (const s of diff.focus.slice(0, MOST)) {
      if (!picture.has(s)) continue;
      const way = Math.hypot(picture.x(s) - (x0 + x1) / 2, picture.y(s) - (y0 + y1) / 2);
      near = Math.min(near, way * camera.zoom);
    }
    return cost - (near < Infinity ? near / AWAY : 0);
  }

  private drawBlocks(scene: Scene): void {
    const { theme } = this;
    const dpr = devicePixelRatio || 1;
    for (const canvas of [this.element, this.blocks]) {
      canvas.width = this.width * dpr;
      canvas.height = this.height * dpr;
    }
    const { picture, diff, after, part } = scene.content;
    const { bounds } = picture;
    const w = bounds.right - bounds.left;
    const h = bounds.bottom - bounds.top;
    this.scale = Math.min((this.width - 2 * MARGIN) / w, (this.height - 2 * MARGIN) / h);
    this.left = (this.width - w * this.scale) / 2 - bounds.left * this.scale;
    this.top = (this.height - h * this.scale) / 2 - bounds.top * this.scale;
    const ctx = context(this.blocks);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const bw = Math.max(LEAST, BOX_W * this.scale);
    const bh = Math.max(LEAST, BLOCK_H * this.scale);
    const put = (s: number, grow: number): void => {
      ctx.fillRect(
        picture.x(s) * this.scale + this.left - bw / 2 - grow,
        picture.y(s) * this.scale + this.top - bh / 2 - grow,
        bw + 2 * grow,
        bh + 2 * grow,
      );
    };
    const groups = new Map<OpGroup, number[]>(OP_GROUPS.map((g) => [g, []]));
    const isThere = (s: number): boolean =>
      scene.box(s) ? membersAt(picture.fold, s).some((m) => after.has(m)) : after.has(s) && !diff.nodes.has(s);
    for (const s of picture.slots)
      if (isThere(s)) groups.get(scene.group(s))!.push(s);
    for (const [group, slots] of groups) {
      ctx.fillStyle = theme.op[group];
      for (const s of slots) {
        ctx.globalAlpha = part && !part.shown.has(s) ? FOLDED : 1;
        put(s, 0);
      }
    }
    ctx.globalAlpha = 1;
    for (const s of diff.nodes.keys()) {
      const state = scene.ownState(s);
      if (scene.state(scene.at(s)) === "none" || state === "none" || state === "ghost") continue;
      ctx.fillStyle = state === "removed" ? theme.del : state === "moved" ? theme.mov : theme.add;
      put(s, GROWN);
    }
  }

  /**
   * Draws the frame; hides the map if the camera shows everything. True if the blocks are those
   * of an earlier step: while someone steps fast through a large graph they wait.
   */
  draw(camera: Camera, now: number): boolean {
    const { ctx, theme, scene } = this;
    const shown =
      scene !== null && camera.height >= LOWEST && !camera.shows(scene.content.picture.bounds);
    this.element.hidden = !shown;
    if (!shown) return false;
    if (this.unsettled && !camera.travelling) {
      [this.width, this.height] = innerWidth < WIDE ? SMALL_SIZE : LARGE_SIZE;
      this.settle(scene, camera);
      this.unsettled = false;
    }
    const large = scene.content.picture.slots.length > LARGE;
    if (this.stale && (!large || now - this.drawn > WAIT)) {
      this.drawBlocks(scene);
      this.stale = false;
      this.drawn = now;
    }
    const dpr = devicePixelRatio || 1;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.element.width, this.element.height);
    ctx.drawImage(this.blocks, 0, 0);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const v = camera.rect();
    const clamp = (x: number, most: number): number => Math.max(1.5, Math.min(most - 1.5, x));
    const x0 = clamp(v.left * this.scale + this.left, this.width);
    const x1 = clamp(v.right * this.scale + this.left, this.width);
    const y0 = clamp(v.top * this.scale + this.top, this.height);
    const y1 = clamp(v.bottom * this.scale + this.top, this.height);
    ctx.beginPath();
    ctx.roundRect(x0, y0, Math.max(4, x1 - x0), Math.max(4, y1 - y0), 2);
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.1;
    ctx.fillStyle = theme.accent;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.stroke();
    return this.stale;
  }
}
