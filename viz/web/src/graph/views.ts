/**
 * Where the cameras of the panes look: the first view, fitting, following the change.
 *
 * Both panes move together unless a gesture means one alone. Never draws; asks for a frame.
 */
import { BOX_H, BOX_W } from "../model/layered";
import type { CameraState } from "./api";
import { type View, WHOLE } from "./view/camera";
import type { Pane } from "./paint/pane";
import { joinRects, overlap, type Rect } from "./view/rect";
import type { Content } from "./picture/scene";
import { uncut } from "./view/uncut";

/** Where a picture is not shown whole, its change is, with all words on the boxes if it fits so. */
const NEAR = 0.85;
/** Ends of changed edges that are kept in view: those of a constant can be thousands. */
const ENDS = 60;
/** Room around a box that has to be in view with it, px. */
const AROUND = 10;

/** What lies over the leading pane: it must not cover what matters. */
export interface Overlay {
  /** Chooses its place for this view; `boxes` are what it must not cover, px of the pane. */
  settle(boxes: readonly Rect[]): void;
  /** Where it lies while a camera looks like that; null while it is not shown. */
  rect(view: View): Rect | null;
}

export class Views {
  content: Content | null = null;
  /** A node that must not be covered. */
  selected: number | null = null;
  /** The whole picture is in view: resizing fits it again. */
  fitted = true;
  /** The first view, where no camera has moved since: resizing makes it again. */
  private first = true;

  constructor(
    private readonly panes: readonly [Pane, Pane],
    private readonly request: () => void,
    private readonly overlay: Overlay | null = null,
  ) {}

  /** The first view: the whole picture if its ops can be read, else what the step shows, else
   * the change with all edges that change. */
  home(): void {
    const { content } = this;
    const shown = this.shownRect();
    if (!content || !shown) return;
    const { bounds } = content.picture;
    const { camera } = this.lead();
    // What fits whole is shown whole, so that stepping moves nothing at all.
    this.fitted = camera.fitting(bounds).zoom >= WHOLE;
    const all = this.fitted ? bounds : shown;
    const change = this.rectOf(this.changed()) ?? shown;
    const zoom = Math.max(WHOLE, Math.min(NEAR, camera.fitting(change).zoom));
    const focus = this.changeRect(zoom) ?? shown;
    const whole = camera.fitting(all).zoom >= WHOLE;
    for (const pane of this.panes)
      pane.camera.set(whole ? pane.camera.fitting(all) : pane.camera.around(focus, shown, zoom));
    if (!whole) this.uncut(focus);
    this.settle(focus);
    this.first = true;
    this.request();
  }

  /** Lets what lies over the pane choose its place, and moves aside where it has none. */
  private settle(focus: Rect): void {
    const { overlay } = this;
    if (!overlay || this.fitted) return;
    const { camera } = this.lead();
    overlay.settle(this.important().map((r) => camera.toScreen(r)));
    const view = this.besides(camera.target, focus);
    const [dx, dy] = [view.x - camera.x, view.y - camera.y];
    if (dx || dy) for (const pane of this.panes) pane.camera.panBy(dx, dy);
  }

  /** The boxes of the change and of the selection, in the world. */
  important(): Rect[] {
    const { content, selected } = this;
    if (!content) return [];
    const slots = [...content.diff.focus.slice(0, ENDS), ...(selected === null ? [] : [selected])];
    return slots.flatMap((s) => this.rectOf([s]) ?? []);
  }

  /** The box of the selected node in the world, or of what it is folded into; null if not drawn. */
  selectedRect(): Rect | null {
    const { content, selected } = this;
    if (!content || selected === null) return null;
    const { picture, part, before, after } = content;
    const there = before.has(selected) || after.has(selected);
    const at = picture.fold?.head[selected] ?? selected;
    return there && (!part || part.shown.has(at)) ? this.rectOf([at], 0) : null;
  }

  /** Does anything cover what matters in that view? */
  private covered(view: View): boolean {
    const map = this.overlay?.rect(view);
    const { camera } = this.lead();
    return Boolean(map) && this.important().some((r) => overlap(camera.toScreen(r, view), map!));
  }

  /** The view moved so that nothing covers `rect`, as little as can be; itself if that cannot be. */
  private besides(view: View, rect: Rect): View {
    const map = this.overlay?.rect(view);
    const { camera } = this.lead();
    const r = camera.toScreen(rect, view);
    if (!map || !this.covered(view)) return view;
    const ways: [number, number][] = [
      [map.right - r.left, 0],
      [map.left - r.right, 0],
      [0, map.bottom - r.top],
      [0, map.top - r.bottom],
    ];
    const inside = ([dx, dy]: [number, number]): boolean =>
      (!dx || (r.left + dx >= 0 && r.right + dx <= camera.width)) &&
      (!dy || (r.top + dy >= 0 && r.bottom + dy <= camera.height));
    const far = ([dx, dy]: [number, number]): number => Math.abs(dx) + Math.abs(dy);
    const best = ways.filter(inside).sort((a, b) => far(a) - far(b))[0];
    return best ? { ...view, x: view.x + best[0], y: view.y + best[1] } : view;
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

  /** Goes to the change if it is out of view or covered; never zooms out by itself. */
  reveal(): void {
    const { camera } = this.lead();
    const rect = this.changeRect(camera.target.zoom);
    if (!rect) return;
    if (!camera.shows(rect, camera.target)) this.toChange(true);
    else this.uncover(rect);
  }

  private toChange(motion: boolean): void {
    const rect = this.changeRect(this.lead().camera.target.zoom);
    if (rect) this.goTo(rect, motion);
  }

  /** Moves aside from what covers the rectangle. */
  private uncover(rect: Rect): void {
    if (!this.covered(this.lead().camera.target)) return;
    for (const pane of this.panes) this.travel(pane, this.besides(pane.camera.target, rect));
  }

  private goTo(rect: Rect, motion: boolean): void {
    const shown = this.shownRect();
    if (!shown) return;
    for (const pane of this.panes) {
      const { zoom } = pane.camera.target;
      this.travel(pane, this.besides(pane.camera.around(rect, shown, zoom), rect), motion);
    }
    this.fitted = false;
    this.first = false;
  }

  /** What changed, then the other ends of the edges that did. */
  private changed(): number[] {
    const { diff, picture, part } = this.content!;
    const { fold, timeline: t } = picture;
    const slots = new Set(diff.focus);
    const ends = new Set<number>();
    for (const edges of [diff.after, diff.before])
      for (const e of edges.keys())
        for (const end of [t.edgeSrc[e]!, t.edgeUser[e]!]) ends.add(fold?.head[end] ?? end);
    for (const s of [...ends].slice(0, ENDS)) if (!part || part.shown.has(s)) slots.add(s);
    return [...slots].filter((s) => picture.has(s));
  }

  /**
   * As much of the change as a view of that zoom holds: around where the rewrite failed, what the
   * match became, or, where it became a node that was there before, what it replaced.
   */
  private changeRect(zoom: number): Rect | null {
    const { content } = this;
    if (!content) return null;
    const { diff, picture } = content;
    if (!diff.focus.length) return null;
    const { camera } = this.lead();
    const fits = (r: Rect): boolean =>
      (r.right - r.left) * zoom <= camera.width && (r.bottom - r.top) * zoom <= camera.height;
    const slots = this.changed();
    const whole = this.rectOf(slots);
    if (!whole || fits(whole)) return whole;
    const changed = (s: number): boolean => diff.nodes.has(s);
    const result = diff.failed[0] ?? diff.result;
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

  /** Goes to a node if it is out of view or covered; the change stays in view if both have room. */
  follow(slot: number): void {
    const rect = this.rectOf([slot]);
    if (!rect) return;
    const { camera } = this.lead();
    const view = camera.target;
    if (camera.shows(rect, view)) {
      this.uncover(rect);
      return;
    }
    const change = this.changeRect(view.zoom);
    const both = change && joinRects([rect, change]);
    const fits =
      both &&
      (both.right - both.left) * view.zoom <= camera.width &&
      (both.bottom - both.top) * view.zoom <= camera.height;
    this.goTo(fits ? both : rect, true);
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

  private rectOf(slots: readonly number[], room = AROUND): Rect | null {
    const picture = this.content?.picture;
    if (!picture) return null;
    return joinRects(
      slots
        .filter((s) => picture.has(s))
        .map((s) => ({
          left: picture.x(s) - BOX_W / 2 - room,
          right: picture.x(s) + BOX_W / 2 + room,
          top: picture.y(s) - BOX_H / 2 - room,
          bottom: picture.y(s) + BOX_H / 2 + room,
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
