/**
 * Where the cameras of the panes look: the first view, fitting, following the change.
 *
 * Both panes move together unless a gesture means one alone. Never draws; asks for a frame.
 */
import { BOX_H, BOX_W } from "../model/layout/layered";
import type { CameraState } from "./api";
import { readable, type View } from "./camera";
import type { Pane } from "./pane";
import { joinRects, type Rect } from "./rect";
import type { Content } from "./scene";
import { uncut } from "./uncut";

/** Where a picture is not shown whole, its change is, in this range: with all words on the boxes. */
const NEAR = 0.85;
const NEAREST = 1;
/** Room around a box that has to be in view with it, px. */
const AROUND = 10;

export class Views {
  content: Content | null = null;
  /** The whole picture is in view: resizing fits it again. */
  fitted = true;
  /** The first view, where nobody has moved a camera since: resizing makes it anew. */
  private first = true;

  constructor(
    private readonly panes: readonly [Pane, Pane],
    private readonly request: () => void,
  ) {}

  /** The first view of a picture: all of it if that can be read, else the change. */
  home(): void {
    const { content } = this;
    const shown = this.shownRect();
    if (!content || !shown) return;
    const { bounds } = content.picture;
    const { camera } = this.lead();
    const least = readable(camera.width);
    // What fits whole is shown whole, so that stepping moves nothing at all.
    this.fitted = camera.fitting(bounds).zoom >= least;
    const near = Math.min(NEAR, least + 0.03);
    const zoom = Math.min(NEAREST, camera.fitting(shown, near).zoom);
    const focus = this.changeRect(zoom) ?? shown;
    for (const pane of this.panes)
      pane.camera.set(
        this.fitted ? pane.camera.fitting(bounds) : pane.camera.around(focus, shown, zoom),
      );
    if (!this.fitted) this.uncut(focus);
    this.first = true;
    this.request();
  }

  /** Moves the first view a little where its border would cut boxes. */
  private uncut(focus: Rect): void {
    const { picture, part } = this.content!;
    const { camera } = this.lead();
    const slots = [...(part?.shown ?? picture.slots)].filter((s) => picture.has(s));
    const boxes = slots.map((s) => camera.toScreen(this.rectOf([s])!));
    const { dx, dy } = uncut(camera.width, camera.height, boxes, camera.toScreen(focus));
    if (dx || dy) for (const pane of this.panes) pane.camera.panBy(dx, dy);
  }

  /** Runs what changes the size of the panes; a change that was in view is in view after it. */
  resized(measure: () => void): void {
    const change = this.changeRect(this.lead().camera.zoom);
    const seen = change !== null && this.lead().camera.shows(change);
    measure();
    if (this.fitted || this.first) this.home();
    else if (seen && !this.lead().camera.shows(change)) this.toChange(false);
  }

  /** Everything that the scope shows. */
  fit(): void {
    const rect = this.shownRect();
    if (!rect) return;
    for (const pane of this.panes) this.travel(pane, pane.camera.fitting(rect));
    this.fitted = true;
    this.first = false;
  }

  zoomBy(factor: number): void {
    for (const { camera } of this.panes)
      camera.zoomAt(factor, camera.width / 2, camera.height / 2);
    this.moved();
  }

  /** Goes to the change if it is out of view; never zooms out by itself. */
  reveal(): void {
    const { camera } = this.lead();
    const rect = this.changeRect(camera.zoom);
    if (rect && !camera.shows(rect)) this.toChange(true);
  }

  private toChange(motion: boolean): void {
    const shown = this.shownRect();
    const { zoom } = this.lead().camera;
    const rect = this.changeRect(zoom);
    if (!rect || !shown) return;
    for (const pane of this.panes)
      this.travel(pane, pane.camera.around(rect, shown, zoom), motion);
    this.fitted = false;
    this.first = false;
  }

  /**
   * As much of the change as a view of that zoom holds: around where the rewrite failed, what the
   * match became, or, where it became a node that was there before, what it replaced.
   */
  private changeRect(zoom: number): Rect | null {
    const { content } = this;
    if (!content) return null;
    const { diff, after, picture } = content;
    const { camera } = this.lead();
    const fits = (r: Rect): boolean =>
      (r.right - r.left) * zoom <= camera.width && (r.bottom - r.top) * zoom <= camera.height;
    const whole = this.rectOf(diff.focus);
    if (!whole || fits(whole)) return whole;
    const slots = diff.focus.filter((s) => picture.has(s));
    const changed = (s: number): boolean => diff.nodes.has(s);
    const result = diff.failed[0] ?? after.bundle.steps[diff.step - 1]!.result;
    const isNew = diff.failed.length > 0 || changed(result);
    const middle =
      isNew && picture.has(result) ? result : (slots.find(changed) ?? slots[0]!);
    const far = (s: number): number =>
      Math.abs(picture.x(s) - picture.x(middle)) + Math.abs(picture.y(s) - picture.y(middle));
    let rect = this.rectOf([middle])!;
    slots.sort((a, b) => Number(changed(b)) - Number(changed(a)) || far(a) - far(b));
    for (const s of slots) {
      const more = joinRects([rect, this.rectOf([s])!])!;
      if (fits(more)) rect = more;
    }
    return rect;
  }

  /** Goes to a node if it is out of view. */
  follow(slot: number): void {
    const { content } = this;
    const rect = this.rectOf([slot]);
    if (!content || !rect) return;
    const { picture } = content;
    for (const pane of this.panes)
      if (!pane.camera.shows(rect))
        this.travel(pane, pane.camera.centred(picture.x(slot), picture.y(slot)));
  }

  centre(worldX: number, worldY: number): void {
    for (const { camera } of this.panes) camera.set(camera.centred(worldX, worldY));
    this.moved();
  }

  /** What the cameras look at, in a form that outlives this picture; null without one. */
  get(): CameraState | null {
    const { content } = this;
    const { camera } = this.lead();
    const [x, y] = camera.toWorld(camera.width / 2, camera.height / 2);
    if (!content) return null;
    const { picture, part, after } = content;
    const { rewrite } = after.bundle;
    if (this.fitted || this.first) return { rewrite, slot: -1, dx: 0, dy: 0, zoom: camera.zoom };
    let slot = -1;
    let least = Infinity;
    for (const s of part?.shown ?? picture.slots) {
      if (!picture.has(s)) continue;
      const way = Math.hypot(picture.x(s) - x, picture.y(s) - y);
      if (way < least) [slot, least] = [s, way];
    }
    if (slot < 0) return null;
    return {
      rewrite,
      slot,
      dx: x - picture.x(slot),
      dy: y - picture.y(slot),
      zoom: camera.zoom,
    };
  }

  /** Looks there again; the first view if that is what it was, or if its node has no place. */
  put(state: CameraState): void {
    const picture = this.content?.picture;
    if (state.slot < 0 || !picture?.has(state.slot)) {
      this.home();
      return;
    }
    const x = picture.x(state.slot) + state.dx;
    const y = picture.y(state.slot) + state.dy;
    for (const { camera } of this.panes) camera.set(camera.centred(x, y, state.zoom));
    this.moved();
  }

  /** Nodes that both pages may have, those that the eye is on first, and where they are. */
  anchors(): [number, View][] {
    const { content } = this;
    if (!content) return [];
    const view = this.lead().camera.rect();
    const { diff, part, picture } = content;
    return [...diff.focus, ...(part?.shown ?? [])]
      .filter((s) => picture.has(s) && picture.x(s) > view.left && picture.x(s) < view.right)
      .filter((s) => picture.y(s) > view.top && picture.y(s) < view.bottom)
      .map((s) => [s, this.screenOf(s)!]);
  }

  /** Where the slot is on the screen now, with the zoom; null if it has no place. */
  screenOf(slot: number): View | null {
    const picture = this.content?.picture;
    if (!picture?.has(slot)) return null;
    const { camera } = this.lead();
    return {
      x: picture.x(slot) * camera.zoom + camera.x,
      y: picture.y(slot) * camera.zoom + camera.y,
      zoom: camera.zoom,
    };
  }

  /** Moves the cameras so that the slot is where it was on the screen; else the first view. */
  hold(slot: number, was: View | null): void {
    const picture = this.content?.picture;
    if (!was || !picture?.has(slot)) {
      this.home();
      return;
    }
    for (const { camera } of this.panes)
      camera.set({
        x: was.x - picture.x(slot) * was.zoom,
        y: was.y - picture.y(slot) * was.zoom,
        zoom: was.zoom,
      });
    this.moved();
  }

  /** Someone moved a camera: the view is no longer the fitted one. */
  moved(): void {
    this.fitted = false;
    this.first = false;
    this.request();
  }

  private lead(): Pane {
    return this.panes[1];
  }

  private travel(pane: Pane, view: View, smooth = true): void {
    const motion = smooth && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    pane.camera.travel(view, performance.now(), motion);
    this.request();
  }

  private rectOf(slots: readonly number[]): Rect | null {
    const picture = this.content?.picture;
    if (!picture) return null;
    return joinRects(
      slots
        .filter((s) => picture.has(s))
        .map((s) => ({
          left: picture.x(s) - BOX_W / 2 - AROUND,
          right: picture.x(s) + BOX_W / 2 + AROUND,
          top: picture.y(s) - BOX_H / 2 - AROUND,
          bottom: picture.y(s) + BOX_H / 2 + AROUND,
        })),
    );
  }

  /** The part of the picture that the scope shows. */
  private shownRect(): Rect | null {
    const { content } = this;
    if (!content) return null;
    const { part, picture } = content;
    if (!part) return picture.bounds;
    return this.rectOf([...part.shown, ...part.groups.map((g) => g.heads[0]!)]);
  }
}
