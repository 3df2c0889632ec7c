/**
 * The graph panes: before | after side by side, or both merged in one.
 *
 * Owns the panes in its host element, follows step, scope and mode, and answers the pointer. The
 * host gives the size; the titles above the panes and the legend below are the page's. Never
 * fetches anything and keeps no state beyond the bundle it was given.
 */
import type { Bundle } from "../data/types";
import { describeSlot, emptyDiff, stepDiff } from "../model/diff";
import { BOX_H, BOX_W } from "../model/layout/layered";
import { AROUND, type Group, neighbourhood } from "../model/neighbourhood";
import { Replay } from "../model/replay";
import { Timeline } from "../model/timeline";
import type { View } from "./camera";
import { listen } from "./gestures";
import { Labels } from "./labels";
import { Layouter } from "./layouter";
import { LiveEdges } from "./liveedges";
import { Minimap } from "./minimap";
import { Outline } from "./outline";
import { PILL_H, PILL_W } from "./paint/marks";
import { type Marks, Pane } from "./pane";
import { joinRects, type Picture, type Rect } from "./picture";
import { Pictures, type Scope } from "./pictures";
import { type Content, Scene } from "./scene";
import { Cancelled } from "./slices";
import { readTheme } from "./theme";
import { type Direction, walkFrom } from "./walk";
import "./stage.css";

export type { Scope } from "./pictures";
export type DiffMode = "side" | "merged";

export interface StageEvents {
  onSelect(slot: number | null): void;
  onHover(slot: number | null): void;
  onStats(stats: StageStats): void;
  /** Work of more than 50 ms: a sentence and the share done; null when it is over. */
  onBusy(text: string | null, progress: number): void;
}

export interface StageStats {
  shown: number;
  total: number;
  hidden: number;
  zoom: number;
  layoutMs: number;
  frameMs: number;
}

export interface Stage {
  /** @throws BundleError for a bundle that contradicts itself */
  load(bundle: Bundle | null): Promise<void>;
  setStep(k: number): void;
  setMode(mode: DiffMode): void;
  setScope(scope: Scope): void;
  /** Leaves constants out of "around change", or shows them (the default). */
  setFoldConstants(fold: boolean): void;
  select(slot: number | null): void;
  light(slots: readonly number[]): void;
  bindings(b: readonly [string, number][] | null): void;
  fit(): void;
  zoomBy(factor: number): void;
  revealChange(): void;
  walk(direction: Direction): void;
  openGroup(): void;
  setTheme(): void;
  describe(slot: number): string;
  destroy(): void;
}

/** Work that takes longer is announced, ms. */
const ANNOUNCE = 50;
/** A picture that fits at this zoom is shown whole, so that stepping moves nothing at all. */
const WHOLE = 0.46;
/** Otherwise the camera goes to the change at no less than this. */
const NEAR = 0.82;
/** Heads of a group that open at once. */
const OPEN_AT_ONCE = 12;

/** Everything of one loaded bundle. */
interface Loaded {
  bundle: Bundle;
  before: Replay;
  after: Replay;
  beforeEdges: LiveEdges;
  afterEdges: LiveEdges;
  labels: Labels;
  pictures: Pictures;
  opened: Set<number>;
}

export function createStage(host: HTMLElement, events: StageEvents): Stage {
  return new CanvasStage(host, events);
}

class CanvasStage implements Stage {
  private readonly root = document.createElement("div");
  private readonly layouter = new Layouter();
  private readonly outline: Outline;
  private readonly minimap: Minimap;
  private readonly panes: readonly [Pane, Pane];
  private readonly frames: readonly [HTMLElement, HTMLElement];
  private readonly cleanups: (() => void)[] = [];
  private theme;
  private loaded: Loaded | null = null;
  private picture: Picture | null = null;
  private everything: Picture | null = null;
  private content: Content | null = null;
  private work = new AbortController();
  private mode: DiffMode = "side";
  private scope: Scope = "change";
  private step = 0;
  private foldConstants = false;
  /** The view is the fitted one: resizing fits again. */
  private fitted = true;
  private marks: Marks = {
    selected: null,
    group: null,
    hovered: null,
    lit: [],
    bindings: null,
  };
  private frame = 0;
  private said = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly events: StageEvents,
  ) {
    this.theme = readTheme(host);
    this.root.className = "stage";
    const frame = (): [HTMLElement, Pane] => {
      const element = document.createElement("div");
      element.className = "stage-pane";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      element.append(canvas);
      this.root.append(element);
      return [element, new Pane(canvas, this.theme)];
    };
    const [first, before] = frame();
    const [second, after] = frame();
    this.frames = [first, second];
    this.panes = [before, after];
    this.minimap = new Minimap(this.theme, (x, y) => {
      for (const pane of this.panes) pane.camera.set(pane.camera.centred(x, y));
      this.moved();
    });
    second.append(this.minimap.element);
    this.outline = new Outline((slot) => this.choose(slot));
    this.root.append(this.outline.element);
    host.append(this.root);
    for (const i of [0, 1] as const) this.listenTo(i);
    const resize = new ResizeObserver(() => this.resize());
    resize.observe(this.root);
    this.cleanups.push(() => resize.disconnect());
    this.arrange();
  }

  async load(bundle: Bundle | null): Promise<void> {
    this.work.abort();
    this.loaded = null;
    this.picture = null;
    this.everything = null;
    this.content = null;
    this.marks = { ...this.marks, selected: null, group: null, hovered: null, bindings: null };
    this.step = 0;
    this.resize();
    this.refresh();
    if (!bundle) return;
    const timeline = new Timeline(bundle);
    const beforeEdges = new LiveEdges(timeline);
    const afterEdges = new LiveEdges(timeline);
    this.loaded = {
      bundle,
      before: new Replay(bundle, timeline, beforeEdges.change),
      after: new Replay(bundle, timeline, afterEdges.change),
      beforeEdges,
      afterEdges,
      labels: new Labels(bundle),
      pictures: new Pictures(timeline, this.layouter),
      opened: new Set(),
    };
    await this.arrangePicture(() => this.home());
  }

  setStep(k: number): void {
    this.step = k;
    const { picture } = this;
    if (!picture) return;
    // A page may turn: a node that both have stays where the eye has it.
    const held = this.content!.diff.focus.map((s) => ({ slot: s, was: this.screenOf(s) }));
    this.show();
    if (this.picture !== picture) {
      const both = held.find(({ slot }) => this.picture!.has(slot));
      if (this.fitted || !both) this.home();
      else this.hold(both.slot, both.was);
    }
    this.revealChange();
  }

  setMode(mode: DiffMode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.arrange();
    this.resize();
    this.refresh();
  }

  setScope(scope: Scope): void {
    if (scope === this.scope) return;
    this.scope = scope;
    if (!this.loaded) return;
    // The change stays under the eye while everything else may get another place.
    const anchor = this.content?.diff.focus[0] ?? this.loaded.bundle.root;
    const held = this.screenOf(anchor);
    void this.arrangePicture(() => this.hold(anchor, held));
  }

  setFoldConstants(fold: boolean): void {
    this.foldConstants = fold;
    this.show();
  }

  select(slot: number | null): void {
    this.marks = { ...this.marks, selected: slot, group: null };
    this.outline.select(slot);
    this.request();
  }

  light(slots: readonly number[]): void {
    this.marks = { ...this.marks, lit: slots };
    this.request();
  }

  bindings(b: readonly [string, number][] | null): void {
    const names = new Map<number, string>();
    for (const [name, slot] of b ?? [])
      names.set(slot, names.has(slot) ? `${names.get(slot)!},${name}` : name);
    this.marks = { ...this.marks, bindings: b ? names : null };
    this.request();
  }

  fit(): void {
    const rect = this.shownRect();
    if (!rect) return;
    for (const pane of this.panes) this.travel(pane, pane.camera.fitting(rect));
    this.fitted = true;
    this.request();
  }

  zoomBy(factor: number): void {
    for (const { camera } of this.panes)
      camera.zoomAt(factor, camera.width / 2, camera.height / 2);
    this.moved();
  }

  revealChange(): void {
    const rect = this.rectOf(this.content?.diff.focus ?? []);
    const camera = this.lead().camera;
    if (!rect || camera.shows(rect)) return;
    const v = camera.rect();
    let { left, right, top, bottom } = rect;
    if (right - left > v.right - v.left || bottom - top > v.bottom - v.top) {
      // Never zooms out by itself: then the result of the match is what to look at.
      const result = this.rectOf([this.loaded!.bundle.steps[this.step - 1]!.result]) ?? rect;
      if (camera.shows(result)) return;
      ({ left, right, top, bottom } = result);
    }
    for (const pane of this.panes)
      this.travel(pane, pane.camera.centred((left + right) / 2, (top + bottom) / 2));
    this.fitted = false;
    this.request();
  }

  walk(direction: Direction): void {
    const scene = this.lead().scene;
    if (!scene || !this.content || !this.picture) return;
    const { diff, after } = this.content;
    const from = this.marks.selected;
    const start = diff.focus.find((s) => this.picture!.has(s)) ?? after.bundle.root;
    const to =
      from !== null && this.picture.has(from) ? walkFrom(scene, from, direction) : start;
    if (to === null || !this.picture.has(to)) return;
    this.choose(to);
    const rect = this.rectOf([to]);
    for (const pane of this.panes)
      if (rect && !pane.camera.shows(rect))
        this.travel(pane, pane.camera.centred(this.picture.x(to), this.picture.y(to)));
  }

  openGroup(): void {
    const { group, selected } = this.marks;
    const found =
      group ?? this.content?.part?.groups.find((g) => selected !== null && g.anchors.includes(selected));
    if (found) this.open(found);
  }

  setTheme(): void {
    this.theme = readTheme(this.host);
    for (const pane of this.panes) pane.setTheme(this.theme);
    this.minimap.setScene(this.lead().scene, this.theme);
    this.request();
  }

  describe(slot: number): string {
    const { content } = this;
    return content ? describeSlot(slot, content.before, content.after, content.diff) : "";
  }

  destroy(): void {
    this.work.abort();
    this.layouter.destroy();
    cancelAnimationFrame(this.frame);
    for (const clean of this.cleanups) clean();
    this.root.remove();
  }

  /** The pane that is always visible: after, or merged. */
  private lead(): Pane {
    return this.panes[1];
  }

  private arrange(): void {
    const [before, after] = this.frames;
    before.hidden = this.mode === "merged";
    const [a, b] = this.panes;
    a.canvas.setAttribute("aria-label", "Graph before the step");
    b.canvas.setAttribute(
      "aria-label",
      this.mode === "merged" ? "Graph before and after the step, merged" : "Graph after the step",
    );
    after.classList.toggle("stage-pane-merged", this.mode === "merged");
  }

  private listenTo(i: 0 | 1): void {
    const pane = this.panes[i];
    const each = (alone: boolean, move: (pane: Pane) => void): void => {
      if (alone) move(pane);
      else this.panes.forEach(move);
      this.moved();
    };
    this.cleanups.push(
      listen(pane.canvas, {
        pan: (dx, dy, alone) => each(alone, (p) => p.camera.panBy(dx, dy)),
        zoom: (f, x, y, alone) => each(alone, (p) => p.camera.zoomAt(f, x, y)),
        click: (x, y) => this.click(pane, x, y),
        hover: (x, y) => this.hover(pane, x, y),
        leave: () => this.setHovered(null),
      }),
    );
  }

  /** Shows the step; the picture of everything has to be waited for the first time. */
  private async arrangePicture(place: () => void): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.work.abort();
    const work = (this.work = new AbortController());
    if (this.scope === "all") {
      const picture = await this.layOutAll(loaded, work.signal);
      if (!picture) return;
      this.everything = picture;
    }
    this.show();
    place();
  }

  /** null: something newer is wanted by now. */
  private async layOutAll(loaded: Loaded, signal: AbortSignal): Promise<Picture | null> {
    let share = 0;
    let text = "";
    let announcements = 0;
    const timer = setInterval(() => {
      announcements++;
      this.events.onBusy(text, share);
    }, ANNOUNCE);
    try {
      const picture = await loaded.pictures.all(this.lead().camera, signal, (t, s) => {
        text = t;
        share = s;
      });
      return signal.aborted ? null : picture;
    } catch (error) {
      if (error instanceof Cancelled) return null;
      throw error;
    } finally {
      clearInterval(timer);
      if (announcements) this.events.onBusy(null, 1);
    }
  }

  /** Brings the replays to the step and makes the scenes of both panes. */
  private show(): void {
    const { loaded } = this;
    if (!loaded) return;
    const { before, after, beforeEdges, afterEdges, labels, opened } = loaded;
    const around = this.scope === "change";
    if (!around && !this.everything) return;
    after.goto(this.step);
    this.step = after.step;
    before.goto(Math.max(0, this.step - 1));
    const diff = this.step > 0 ? stepDiff(before, after) : emptyDiff();
    const picture = around
      ? loaded.pictures.around(this.step, opened, this.lead().camera)
      : this.everything!;
    const options = { ...AROUND, opened, foldConstants: this.foldConstants };
    const part = around ? neighbourhood(before, after, diff, options) : null;
    this.picture = picture;
    this.content = { picture, labels, before, after, beforeEdges, afterEdges, diff, part };
    this.marks = { ...this.marks, group: null };
    this.refresh();
  }

  private refresh(): void {
    const { content } = this;
    const merged = this.mode === "merged";
    this.panes[0].setScene(content && !merged ? new Scene("before", content) : null);
    this.panes[1].setScene(content && new Scene(merged ? "merged" : "after", content));
    this.minimap.setScene(this.lead().scene, this.theme);
    this.outline.update(content, this.marks.selected);
    this.request();
  }

  /** The first view of a bundle. */
  private home(): void {
    const { picture } = this;
    if (!picture) return;
    const camera = this.lead().camera;
    const whole = camera.fitting(picture.bounds);
    const shown = this.shownRect();
    if (whole.zoom >= WHOLE || !shown) {
      for (const pane of this.panes) pane.camera.set(pane.camera.fitting(picture.bounds));
      this.fitted = true;
      return;
    }
    const focus = this.rectOf(this.content?.diff.focus ?? []) ?? shown;
    const { zoom } = camera.fitting(shown, NEAR);
    for (const pane of this.panes)
      pane.camera.set(
        pane.camera.centred((focus.left + focus.right) / 2, (focus.top + focus.bottom) / 2, zoom),
      );
    this.fitted = false;
    this.request();
  }

  private resize(): void {
    const dpr = devicePixelRatio || 1;
    this.panes.forEach((pane, i) => {
      const frame = this.frames[i]!;
      if (frame.hidden) return;
      const { clientWidth: w, clientHeight: h } = frame;
      const { camera } = pane;
      const centre = camera.toWorld(camera.width / 2, camera.height / 2);
      const first = camera.width <= 1;
      pane.resize(w, h, dpr);
      if (!first) camera.set(camera.centred(...centre));
    });
    // The hidden pane keeps the views of the other, so that it comes back in step.
    if (this.frames[0].hidden) this.panes[0].camera.set(this.lead().camera);
    if (this.fitted && this.picture) this.home();
    this.request();
  }

  private click(pane: Pane, sx: number, sy: number): void {
    const hit = this.hit(pane, sx, sy);
    if (hit.group) {
      this.open(hit.group);
      return;
    }
    this.choose(hit.slot);
  }

  private choose(slot: number | null): void {
    this.select(slot);
    this.events.onSelect(slot);
  }

  private hover(pane: Pane, sx: number, sy: number): void {
    const hit = this.hit(pane, sx, sy);
    pane.canvas.style.cursor = hit.group || hit.slot !== null ? "pointer" : "default";
    this.setHovered(hit.slot);
  }

  private setHovered(slot: number | null): void {
    if (slot === this.marks.hovered) return;
    this.marks = { ...this.marks, hovered: slot };
    this.events.onHover(slot);
    this.request();
  }

  private hit(pane: Pane, sx: number, sy: number): { slot: number | null; group: Group | null } {
    const { scene, camera } = pane;
    if (!scene) return { slot: null, group: null };
    const { picture } = scene.content;
    const [x, y] = camera.toWorld(sx, sy);
    for (const group of scene.groups()) {
      const at = group.heads[0]!;
      if (Math.abs(picture.x(at) - x) <= PILL_W && Math.abs(picture.y(at) - y) <= PILL_H)
        return { slot: null, group };
    }
    const slot = picture.at(x, y, Math.max(0, 3 / camera.zoom - 3));
    if (slot < 0 || scene.state(slot) === "none") return { slot: null, group: null };
    return { slot, group: null };
  }

  /** Shows the first nodes of a folded group; the rest folds behind them. */
  private open(group: Group): void {
    const { loaded, picture } = this;
    if (!loaded || !picture) return;
    for (const s of group.heads.slice(0, OPEN_AT_ONCE)) loaded.opened.add(s);
    // What opens may need room; the node that it hangs at stays where it is.
    const anchor = group.anchors[0]!;
    const held = this.screenOf(anchor);
    this.show();
    this.hold(anchor, held);
  }

  private screenOf(slot: number): View | null {
    const { picture } = this;
    if (!picture?.has(slot)) return null;
    const { camera } = this.lead();
    return {
      x: picture.x(slot) * camera.zoom + camera.x,
      y: picture.y(slot) * camera.zoom + camera.y,
      zoom: camera.zoom,
    };
  }

  /** Moves the cameras so that the slot is where it was on the screen. */
  private hold(slot: number, was: View | null): void {
    const { picture } = this;
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

  private rectOf(slots: readonly number[]): Rect | null {
    const { picture } = this;
    if (!picture) return null;
    return joinRects(
      slots
        .filter((s) => picture.has(s))
        .map((s) => ({
          left: picture.x(s) - BOX_W / 2 - 10,
          right: picture.x(s) + BOX_W / 2 + 10,
          top: picture.y(s) - BOX_H / 2 - 10,
          bottom: picture.y(s) + BOX_H / 2 + 10,
        })),
    );
  }

  /** The part of the picture that the scope shows. */
  private shownRect(): Rect | null {
    const part = this.content?.part;
    if (!part) return this.picture?.bounds ?? null;
    return this.rectOf([...part.shown, ...part.groups.map((g) => g.heads[0]!)]);
  }

  private travel(pane: Pane, view: View): void {
    const motion = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    pane.camera.travel(view, performance.now(), motion);
    this.request();
  }

  private moved(): void {
    this.fitted = false;
    this.request();
  }

  private request(): void {
    this.frame ||= requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    this.frame = 0;
    let again = false;
    for (const pane of this.panes) {
      if (pane.camera.step(now)) again = pane.camera.travelling || again;
      if (pane.draw(this.marks)) again = true;
    }
    this.minimap.draw(this.lead().camera);
    this.report();
    if (again) this.request();
  }

  private report(): void {
    const { content, loaded } = this;
    if (!content || !loaded) return;
    const total = content.after.count;
    const shown = content.part
      ? [...content.part.shown].filter((s) => content.after.has(s)).length
      : total;
    const stats: StageStats = {
      shown,
      total,
      hidden: total - shown,
      zoom: this.lead().camera.zoom,
      layoutMs: loaded.pictures.layoutMs,
      frameMs: Math.round(10 * Math.max(...this.panes.map((p) => p.frameMs))) / 10,
    };
    const words = JSON.stringify(stats);
    if (words === this.said) return;
    this.said = words;
    this.events.onStats(stats);
  }
}
