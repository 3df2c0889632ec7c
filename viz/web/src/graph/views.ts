/**
 * Where the cameras of the panes look: the first view, fitting, following the change.
 *
 * Both panes move together unless a gesture means one alone. Never draws; asks for a frame.
 */
import { BOX_H, BOX_W } from "../model/layout/layered";
import type { View } from "./camera";
import type { Pane } from "./pane";
import { joinRects, type Rect } from "./picture";
import type { Content } from "./scene";

/** A picture that fits at this zoom is shown whole, so that stepping moves nothing at all. */
const WHOLE = 0.46;
/** Otherwise the part shown is fitted at no less than this. */
const NEAR = 0.62;
/** Room around a box that has to be in view with it, px. */
const AROUND = 10;

export class Views {
  content: Content | null = null;
  /** The view is the fitted one: resizing fits again. */
  fitted = true;

  constructor(
    private readonly panes: readonly [Pane, Pane],
    private readonly request: () => void,
  ) {}

  /** The first view of a picture. */
  home(): void {
    const { content } = this;
    const shown = this.shownRect();
    if (!content || !shown) return;
    const { bounds } = content.picture;
    const { camera } = this.lead();
    const whole = camera.fitting(bounds);
    this.fitted = whole.zoom >= WHOLE;
    const focus = this.rectOf(content.diff.focus) ?? shown;
    const { zoom } = camera.fitting(shown, NEAR);
    for (const pane of this.panes)
      pane.camera.set(
        this.fitted ? pane.camera.fitting(bounds) : pane.camera.around(focus, shown, zoom),
      );
    this.request();
  }

  /** Everything that the scope shows. */
  fit(): void {
    const rect = this.shownRect();
    if (!rect) return;
    for (const pane of this.panes) this.travel(pane, pane.camera.fitting(rect));
    this.fitted = true;
  }

  zoomBy(factor: number): void {
    for (const { camera } of this.panes)
      camera.zoomAt(factor, camera.width / 2, camera.height / 2);
    this.moved();
  }

  /** Goes to the change if it is out of view; never zooms out by itself. */
  reveal(result: number | undefined): void {
    const shown = this.shownRect();
    let rect = this.rectOf(this.content?.diff.focus ?? []);
    const { camera } = this.lead();
    if (!rect || !shown || camera.shows(rect)) return;
    const view = camera.rect();
    const fits =
      rect.right - rect.left <= view.right - view.left &&
      rect.bottom - rect.top <= view.bottom - view.top;
    if (!fits && result !== undefined) {
      // Then what the match became is what to look at.
      rect = this.rectOf([result]) ?? rect;
      if (camera.shows(rect)) return;
    }
    for (const pane of this.panes)
      this.travel(pane, pane.camera.around(rect, shown, camera.zoom));
    this.fitted = false;
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
    this.request();
  }

  private lead(): Pane {
    return this.panes[1];
  }

  private travel(pane: Pane, view: View): void {
    const motion = !matchMedia("(prefers-reduced-motion: reduce)").matches;
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
