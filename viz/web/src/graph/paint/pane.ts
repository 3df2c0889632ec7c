/**
 * One canvas: draws a scene as its camera sees it.
 *
 * The unchanged part is kept as a picture of its own, so that hovering and selecting redraw only
 * what is special. Where that part is expensive (tens of thousands of edges), a pan or zoom shows
 * the kept picture moved and scaled, and the sharp one is made in slices meanwhile: no frame waits.
 * Never decides what is shown and never listens to events.
 */
import type { Group } from "../../model/fold/neighbourhood";
import { membersAt } from "../../model/fold/fold";
import { Camera, type View } from "../view/camera";
import { drawable, paintChangedEdges, paintEdge, paintSameEdges } from "./edges";
import { type FitMarks, paintFit, paintFitEdges } from "./fit";
import {
  paintBinding,
  paintFailure,
  paintGroup,
  paintHandle,
  paintHeld,
  paintInside,
  paintRing,
  paintSign,
  paintStubs,
} from "./marks";
import { levelOf, paintBlocks, paintBoxes, paintChanged } from "./nodes";
import type { Rect } from "../view/rect";
import type { Scene } from "../picture/scene";
import type { Theme } from "./theme";

/** What lies on top of the unchanged graph. */
export interface Marks {
  selected: number | null;
  /** A folded group's first head, if the selection is a group. */
  group: Group | null;
  hovered: number | null;
  lit: readonly number[];
  bindings: ReadonlyMap<number, string> | null;
  fit: FitMarks | null;
}

/** A kept picture up to this cost is simply redrawn every frame, ms. */
const CHEAP = 9;
/** Time per frame for a kept picture made in slices, ms. */
const SLICE = 5;
/** Kept pictures reach this far beyond the view, as a share of its size. */
const BEYOND = 0.2;
/** How much of the ring is drawn around the outline of a node that this pane's state has not. */
const GHOST_RING = 0.55;
/** Hovering a node with more edges lights this many. */
const LIT_EDGES = 400;

interface Kept {
  canvas: HTMLCanvasElement;
  view: View;
  /** CSS px that the picture reaches beyond each side of the view. */
  padX: number;
  padY: number;
}

export class Pane {
  readonly camera = new Camera();
  scene: Scene | null = null;
  private readonly ctx: CanvasRenderingContext2D;
  private kept: Kept | null = null;
  private spare: HTMLCanvasElement | null = null;
  private stale = true;
  private keptMs = 0;
  private making: { steps: Generator<void, void>; kept: Kept; ms: number } | null = null;
  private hatch: CanvasPattern | null = null;
  dpr = 1;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private theme: Theme,
  ) {
    this.ctx = context(canvas);
    this.makeHatch();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.makeHatch();
    this.invalidate();
  }

  setScene(scene: Scene | null): void {
    this.scene = scene;
    this.invalidate();
  }

  /** The unchanged part has to be drawn anew. */
  invalidate(): void {
    this.stale = true;
    this.giveUp();
  }

  /** Ends the making of a kept picture; its canvas is used again. */
  private giveUp(): void {
    if (this.making) this.spare ??= this.making.kept.canvas;
    this.making = null;
  }

  resize(width: number, height: number, dpr: number): void {
    this.camera.width = Math.max(1, width);
    this.camera.height = Math.max(1, height);
    this.dpr = dpr;
    this.canvas.width = Math.max(1, Math.round(width * dpr));
    this.canvas.height = Math.max(1, Math.round(height * dpr));
    this.invalidate();
  }

  /** Draws a frame; true if another one is needed to finish. */
  draw(marks: Marks): boolean {
    const { ctx, dpr, scene } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!scene) return false;
    const again = this.keep(scene);
    if (this.kept) this.blit(this.kept);
    const { x, y, zoom } = this.camera;
    ctx.setTransform(dpr * zoom, 0, 0, dpr * zoom, dpr * x, dpr * y);
    this.drawMarks(scene, marks, zoom);
    return again;
  }

  private sharp(): boolean {
    const { kept, camera } = this;
    return (
      !this.stale &&
      kept !== null &&
      kept.view.zoom === camera.zoom &&
      Math.abs(kept.view.x - camera.x) <= kept.padX &&
      Math.abs(kept.view.y - camera.y) <= kept.padY
    );
  }

  /** Sees to it that the kept picture fits the view, at once or step by step. */
  private keep(scene: Scene): boolean {
    if (this.sharp()) {
      this.giveUp();
      return false;
    }
    const cheap = this.keptMs <= CHEAP;
    if (!this.making || cheap || !this.aims(this.making.kept)) {
      this.giveUp();
      const kept = this.newKept(cheap ? 0 : BEYOND);
      this.making = { kept, steps: this.paint(scene, kept), ms: 0 };
    }
    const { making } = this;
    // Without any picture of this scene the first one is worth a longer frame.
    const until = performance.now() + (cheap ? Infinity : SLICE);
    const started = performance.now();
    for (;;) {
      const done = making.steps.next().done;
      const now = performance.now();
      if (done) {
        this.keptMs = making.ms + now - started;
        if (this.kept) this.spare = this.kept.canvas;
        this.kept = making.kept;
        this.stale = false;
        this.making = null;
        return !this.sharp();
      }
      // A picture thought cheap that turns out not to be goes on in slices.
      if (now > until || now - started > 4 * CHEAP) {
        making.ms += now - started;
        this.keptMs = Math.max(this.keptMs, CHEAP + 1);
        return true;
      }
    }
  }

  /** Will the picture in the making fit the present view? */
  private aims(kept: Kept): boolean {
    const { camera } = this;
    return (
      kept.view.zoom === camera.zoom &&
      Math.abs(kept.view.x - camera.x) <= kept.padX &&
      Math.abs(kept.view.y - camera.y) <= kept.padY
    );
  }

  private newKept(beyond: number): Kept {
    const { camera, dpr } = this;
    const padX = Math.round(camera.width * beyond);
    const padY = Math.round(camera.height * beyond);
    const canvas = this.spare ?? document.createElement("canvas");
    this.spare = null;
    canvas.width = Math.round((camera.width + 2 * padX) * dpr);
    canvas.height = Math.round((camera.height + 2 * padY) * dpr);
    return { canvas, view: { x: camera.x, y: camera.y, zoom: camera.zoom }, padX, padY };
  }

  private *paint(scene: Scene, kept: Kept): Generator<void, void> {
    const ctx = context(kept.canvas);
    const { dpr, theme } = this;
    const { zoom } = kept.view;
    const x = kept.view.x + kept.padX;
    const y = kept.view.y + kept.padY;
    ctx.setTransform(dpr * zoom, 0, 0, dpr * zoom, dpr * x, dpr * y);
    const rect: Rect = {
      left: -x / zoom,
      top: -y / zoom,
      right: (kept.canvas.width / dpr - x) / zoom,
      bottom: (kept.canvas.height / dpr - y) / zoom,
    };
    yield* paintSameEdges(ctx, scene, theme, rect, zoom);
    const slots: number[] = [];
    scene.visitNodes(rect, (s) => {
      if (scene.state(s) === "same") slots.push(s);
    });
    yield;
    paintStubs(ctx, scene, theme, slots, zoom);
    yield;
    if (levelOf(zoom) === "far") paintBlocks(ctx, scene, theme, slots, zoom);
    else paintBoxes(ctx, scene, theme, slots, zoom);
  }

  /** Shows the kept picture where the camera has it now. */
  private blit(kept: Kept): void {
    const { ctx, camera, dpr } = this;
    const k = camera.zoom / kept.view.zoom;
    const x = camera.x - (kept.view.x + kept.padX) * k;
    const y = camera.y - (kept.view.y + kept.padY) * k;
    ctx.imageSmoothingEnabled = k !== 1;
    // Whole device pixels while panning, so that text stays sharp.
    const snap = (v: number): number => (k === 1 ? Math.round(v * dpr) : v * dpr);
    ctx.drawImage(kept.canvas, snap(x), snap(y), kept.canvas.width * k, kept.canvas.height * k);
  }

  private drawMarks(scene: Scene, marks: Marks, zoom: number): void {
    const { ctx, theme } = this;
    const { picture, diff } = scene.content;
    for (const group of scene.groups()) paintGroup(ctx, scene, theme, group, zoom, group === marks.group);
    const near = new Set<number>();
    for (const s of [marks.hovered, marks.selected])
      if (s !== null && scene.state(scene.at(s)) !== "none") this.lightEdges(scene, scene.at(s), zoom, near);
    paintChangedEdges(ctx, scene, theme, zoom);
    for (const s of levelOf(zoom) === "far" ? [] : near)
      if (scene.state(s) === "same") paintChanged(ctx, scene, theme, s, "same", zoom, null);
    const changed = [...diff.nodes.keys()].filter((s) => !scene.box(s));
    for (const pass of ["ghost", "other"] as const)
      for (const s of changed) {
        const state = scene.state(s);
        if (state === "none" || (state === "ghost") !== (pass === "ghost")) continue;
        paintChanged(ctx, scene, theme, s, state, zoom, this.hatch);
      }
    const ring = (s: number, color: string): void => {
      const at = scene.at(s); // a folded node is ringed as its box
      if (!["none", "ghost"].includes(scene.state(at))) paintRing(ctx, scene, at, color, zoom);
    };
    if (marks.fit) paintFitEdges(ctx, scene, theme, marks.fit, zoom);
    for (const s of marks.lit) ring(s, theme.accent);
    if (marks.hovered !== null) ring(marks.hovered, theme.text3);
    if (marks.selected !== null) this.drawSelected(scene, marks.selected, zoom);
    for (const s of scene.handles()) paintHandle(ctx, theme, picture.x(s), picture.y(s), zoom);
    for (const s of changed) {
      const state = scene.state(s);
      if (state !== "none" && state !== "ghost")
        paintSign(ctx, theme, picture.x(s), picture.y(s), state, zoom);
    }
    if (scene.side !== "before")
      for (const s of diff.failed)
        if (scene.state(scene.at(s)) !== "none") paintFailure(ctx, scene, theme, scene.at(s), zoom);
    for (const [box, inside] of scene.insides())
      if (scene.state(box.head) !== "none")
        paintInside(ctx, theme, picture.x(box.head), picture.y(box.head), inside, zoom);
    if (marks.fit) paintFit(ctx, scene, theme, marks.fit, zoom);
    if (marks.bindings && (marks.fit || scene.side !== "after")) {
      const names = new Map<number, string[]>();
      for (const [s, name] of marks.bindings) {
        const at = scene.at(s);
        if (scene.state(at) !== "none" && scene.state(at) !== "ghost")
          names.set(at, [...(names.get(at) ?? []), name]);
      }
      for (const [s, all] of names)
        paintBinding(ctx, theme, picture.x(s), picture.y(s), all.join(","), zoom);
    }
  }

  /** Rings the selected node, where it is not in this pane's state, too; a box says which it holds. */
  private drawSelected(scene: Scene, slot: number, zoom: number): void {
    const { ctx, theme } = this;
    const at = scene.at(slot);
    const state = scene.state(at);
    if (state === "none") return;
    ctx.globalAlpha = state === "ghost" ? GHOST_RING : 1;
    paintRing(ctx, scene, at, theme.accent, zoom);
    if (scene.box(slot)) paintHeld(ctx, scene, theme, slot, zoom);
    ctx.globalAlpha = 1;
  }

  /** Draws all edges of a node as lines, those of hubs too, and collects its neighbours. */
  private lightEdges(scene: Scene, slot: number, zoom: number, near: Set<number>): void {
    const { ctx, theme } = this;
    const { timeline: t } = scene.content.picture;
    const width = Math.max(1.8, 1.1 / zoom);
    let left = LIT_EDGES;
    const light = (e: number, other: number): void => {
      if (left <= 0 || scene.edgeState(e) !== "same" || !drawable(scene, e)) return;
      left--;
      near.add(scene.at(other));
      paintEdge(ctx, scene, e, theme.text2, width);
    };
    for (const s of membersAt(scene.content.picture.fold, slot)) {
      for (const e of scene.sourceEdges(s)) light(e, t.edgeSrc[e]!);
      for (let i = t.usersFirst[s]!; i < t.usersFirst[s + 1]! && left > 0; i++)
        light(t.usersEdge[i]!, t.edgeUser[t.usersEdge[i]!]!);
    }
    near.delete(slot);
  }

  private makeHatch(): void {
    const tile = document.createElement("canvas");
    tile.width = 6;
    tile.height = 6;
    const ctx = context(tile);
    ctx.strokeStyle = this.theme.del;
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (const o of [-6, 0, 6]) {
      ctx.moveTo(o - 1, 7);
      ctx.lineTo(o + 7, -1);
    }
    ctx.stroke();
    this.hatch = this.ctx.createPattern(tile, "repeat");
  }
}

export function context(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser offers no 2D canvas");
  return ctx;
}
