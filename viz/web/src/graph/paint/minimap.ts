/**
 * The whole picture in a corner, with a frame around what is in view; a press goes there.
 *
 * Shown while the reader pans or zooms, and while the change or what is selected is out of view. Takes the
 * corner that is free when a view is made, and keeps it: it never jumps while someone steps. Hidden while
 * everything fits, in panes too low for it, and where it would cover what changed or what is selected. The blocks are drawn once per step, the frame at every move.
 */
import { membersAt } from "../../model/fold/fold";
import { BOX_W } from "../../model/layered";
import { OP_GROUPS, type OpGroup } from "../../model/ops";
import type { Camera, View } from "../view/camera";
import { context } from "./pane";
import { overlap, type Rect } from "../view/rect";
import type { Scene } from "../picture/scene";
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
/** 0 top left, 1 top right, 2 bottom left, 3 bottom right; below left where all are alike. */
const CORNERS = [0, 1, 2, 3] as const;
/** A node of the change or the selected one under the map is as bad as so many others. */
const IMPORTANT = 1000;
const NOWHERE: Rect = { left: 0, right: 0, top: 0, bottom: 0 };
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

/** How long it stays after the last pan or zoom, ms. */
const LINGER = 1200;

export class Minimap {
  readonly element: HTMLCanvasElement;
  private readonly blocks = document.createElement("canvas");
  private readonly ctx: CanvasRenderingContext2D;
  private width: number = LARGE_SIZE[0];
  private height: number = LARGE_SIZE[1];
  private corner = 2;
  private scale = 1;
  private left = 0;
  private top = 0;
  private scene: Scene | null = null;
  private stale = true;
  private drawn = -Infinity;
  private leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private theme: Theme,
    /** Of the pane that it lies over. */
    private readonly camera: Camera,
    go: (worldX: number, worldY: number) => void,
    private readonly wake: () => void,
  ) {
    this.element = document.createElement("canvas");
    this.element.className = "stage-mini";
    this.element.setAttribute("aria-hidden", "true");
    this.ctx = context(this.element);
    const press = (event: PointerEvent): void => {
      if (!(event.buttons & 1)) return;
      event.preventDefault();
      event.stopPropagation();
      this.linger();
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

  /** The reader moves through the picture: it is shown until a moment after that. */
  linger(): void {
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => {
      this.leaving = undefined;
      if (this.element.matches(":hover")) this.linger();
      else this.wake();
    }, LINGER);
    this.wake();
  }

  destroy(): void {
    clearTimeout(this.leaving);
  }

  setScene(scene: Scene | null, theme: Theme): void {
    this.scene = scene;
    this.theme = theme;
    this.stale = true;
  }

  /** Goes to the corner where it covers none of the boxes, or else the fewest; then other nodes. */
  settle(boxes: readonly Rect[]): void {
    const { scene } = this;
    if (!scene) return;
    [this.width, this.height] = innerWidth < WIDE ? SMALL_SIZE : LARGE_SIZE;
    const cost = (corner: number): number => {
      const map = this.at(corner);
      const important = boxes.filter((b) => overlap(b, map)).length;
      const [left, top] = this.camera.toWorld(map.left, map.top);
      const [right, bottom] = this.camera.toWorld(map.right, map.bottom);
      let nodes = 0;
      scene.visitNodes({ left, top, right, bottom }, (s) => {
        if (scene.state(s) !== "none") nodes++;
      });
      return IMPORTANT * important + nodes;
    };
    const costs = CORNERS.map(cost);
    this.corner = costs.indexOf(Math.min(...costs));
    const { style } = this.element;
    style.left = this.corner & 1 ? "auto" : `${INSET}px`;
    style.right = this.corner & 1 ? `${INSET}px` : "auto";
    style.top = this.corner & 2 ? "auto" : `${INSET}px`;
    style.bottom = this.corner & 2 ? `${INSET}px` : "auto";
    style.width = `${this.width}px`;
    style.height = `${this.height}px`;
    this.stale = true;
  }

  /** Where it lies while the camera looks like that, px of the pane; null where it is hidden. */
  rect(view: View): Rect | null {
    const { camera, scene } = this;
    if (!scene || camera.height < LOWEST) return null;
    return camera.shows(scene.content.picture.bounds, view) ? null : this.at(this.corner);
  }

  private at(corner: number): Rect {
    const { width, height, camera } = this;
    const left = corner & 1 ? camera.width - INSET - width : INSET;
    const top = corner & 2 ? camera.height - INSET - height : INSET;
    return { left, top, right: left + width, bottom: top + height };
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
   * Draws the frame; hides the map while the camera shows everything, and where it would cover
   * one of the boxes all the same. True if the blocks are those of an earlier step: while someone
   * steps fast through a large graph they wait.
   */
  draw(boxes: readonly Rect[], now: number): boolean {
    const { ctx, theme, scene, camera } = this;
    const map = this.rect(camera);
    const covers = !camera.travelling && boxes.some((b) => overlap(camera.toScreen(b), map ?? NOWHERE));
    const away = !camera.travelling && boxes.some((b) => !overlap(b, camera.rect()));
    this.element.hidden = !map || covers || !(away || this.leaving !== undefined);
    if (!scene || this.element.hidden) return false;
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
