/**
 * The whole picture in a corner, with a frame around what is in view; a press goes there.
 *
 * Hidden while everything fits. The blocks are drawn once per step, the frame at every move.
 */
import { OP_GROUPS, type OpGroup } from "../model/ops";
import type { Camera } from "./camera";
import { context } from "./pane";
import type { Scene } from "./scene";
import type { Theme } from "./theme";

const WIDTH = 124;
const HEIGHT = 92;
const MARGIN = 6;
/** Blocks smaller than this are drawn this large, px. */
const LEAST = 1.2;
/** How much of a folded node's colour is left. */
const FOLDED = 0.35;
/** From this many nodes on, blocks are drawn anew at most every so often, ms. */
const LARGE = 3000;
const WAIT = 250;

export class Minimap {
  readonly element: HTMLCanvasElement;
  private readonly blocks = document.createElement("canvas");
  private readonly ctx: CanvasRenderingContext2D;
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
  }

  private drawBlocks(scene: Scene): void {
    const { theme } = this;
    const dpr = devicePixelRatio || 1;
    for (const canvas of [this.element, this.blocks]) {
      canvas.width = WIDTH * dpr;
      canvas.height = HEIGHT * dpr;
    }
    const { picture, labels, diff, after, part } = scene.content;
    const { bounds } = picture;
    const w = bounds.right - bounds.left;
    const h = bounds.bottom - bounds.top;
    this.scale = Math.min((WIDTH - 2 * MARGIN) / w, (HEIGHT - 2 * MARGIN) / h);
    this.left = (WIDTH - w * this.scale) / 2 - bounds.left * this.scale;
    this.top = (HEIGHT - h * this.scale) / 2 - bounds.top * this.scale;
    const ctx = context(this.blocks);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const bw = Math.max(LEAST, 132 * this.scale);
    const bh = Math.max(LEAST, 26 * this.scale);
    const put = (s: number, grow: number): void => {
      ctx.fillRect(
        picture.x(s) * this.scale + this.left - bw / 2 - grow,
        picture.y(s) * this.scale + this.top - bh / 2 - grow,
        bw + 2 * grow,
        bh + 2 * grow,
      );
    };
    const groups = new Map<OpGroup, number[]>(OP_GROUPS.map((g) => [g, []]));
    for (const s of picture.slots)
      if (after.has(s) && !diff.nodes.has(s)) groups.get(labels.of(scene.node(s)).group)!.push(s);
    for (const [group, slots] of groups) {
      ctx.fillStyle = theme.op[group];
      for (const s of slots) {
        ctx.globalAlpha = part && !part.shown.has(s) ? FOLDED : 1;
        put(s, 0);
      }
    }
    ctx.globalAlpha = 1;
    for (const s of diff.nodes.keys()) {
      const state = scene.state(s);
      if (state === "none" || state === "ghost") continue;
      ctx.fillStyle = state === "removed" ? theme.del : state === "moved" ? theme.mov : theme.add;
      put(s, 0.7);
    }
  }

  /**
   * Draws the frame; hides the map if the camera shows everything. True if the blocks are those
   * of an earlier step: while someone steps fast through a large graph they wait.
   */
  draw(camera: Camera, now: number): boolean {
    const { ctx, theme, scene } = this;
    const shown = scene !== null && !camera.shows(scene.content.picture.bounds);
    this.element.hidden = !shown;
    if (!shown) return false;
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
    const x0 = clamp(v.left * this.scale + this.left, WIDTH);
    const x1 = clamp(v.right * this.scale + this.left, WIDTH);
    const y0 = clamp(v.top * this.scale + this.top, HEIGHT);
    const y1 = clamp(v.bottom * this.scale + this.top, HEIGHT);
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
