/**
 * The graph panes: before | after side by side, or both merged in one.
 *
 * Follows bundle, step, scope and mode, and answers the pointer. The host gives the size; the
 * titles above the panes and the legend below are the page's. Never fetches anything and keeps
 * no state beyond the bundle it was given.
 */
import type { Bundle } from "../data/messages/bundle";
import { describeSlot } from "../model/diff";
import type { Group } from "../model/fold/neighbourhood";
import { type StatePairs, stepPairs } from "../model/pair/statePairs";
import { timelineOf } from "../model/timeline";
import type {
  CameraState,
  DiffMode,
  FitMarks,
  FoldKinds,
  PaneNames,
  Scope,
  Stage,
  StageEvents,
} from "./api";
import { BoxSearch } from "./boxes";
import { Frames } from "./frames";
import { Layouter } from "./picture/layouter";
import { Loaded } from "./loaded";
import { Minimap } from "./paint/minimap";
import { Outline } from "./outline";
import { namesBySlot } from "./paint/marks";
import type { Marks, Pane } from "./paint/pane";
import { Pointer } from "./pointer";
import { Scene } from "./picture/scene";
import { statsOf } from "./stats";
import { readTheme, type Theme } from "./paint/theme";
import { Views } from "./views";
import { type Direction, walkFrom } from "./walk";
import "./stage.css";

export type {
  CameraState,
  DiffMode,
  FitMarks,
  FoldKinds,
  Scope,
  Stage,
  StageEvents,
  StageStats,
} from "./api";

const OF_STEPS: PaneNames = {
  before: "Graph before the step",
  after: "Graph after the step",
  merged: "Graph before and after the step, merged",
};

export function createStage(host: HTMLElement, events: StageEvents, names = OF_STEPS): Stage {
  return new CanvasStage(host, events, names);
}

/** A bundle with more slots is announced before it is indexed. */
const LARGE = 5000;
const UNFOLDED: FoldKinds = { index: false, blocks: false };

class CanvasStage implements Stage {
  private theme: Theme;
  private readonly frames: Frames;
  private readonly views: Views;
  private readonly minimap: Minimap;
  private readonly outline: Outline;
  private readonly layouter = new Layouter();
  private readonly pointer: Pointer;
  private loaded: Loaded | null = null;
  private work = new AbortController();
  private mode: DiffMode = "side";
  private scope: Scope = "change";
  private step = 0;
  private foldConstants = false;
  private foldKinds = UNFOLDED;
  /** A frame of this bundle was drawn: from now on the view belongs to the reader. */
  private seen = false;
  /** A node that was selected elsewhere and has to come into view. */
  private sought: number | null = null;
  /** Where Back wants to look, until that has been drawn. */
  private wanted: CameraState | null = null;
  /** A layout of everything is under way. */
  private running = false;
  private marks: Marks = { selected: null, group: null, hovered: null, lit: [], bindings: null, fit: null };
  private readonly boxSearch: BoxSearch;
  private frame = 0;
  private said = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly events: StageEvents,
    names: PaneNames,
  ) {
    this.boxSearch = new BoxSearch((text, share) => this.events.onBusy(text, share));
    this.theme = readTheme(host);
    this.frames = new Frames(this.theme, names, () => this.resize());
    const go = (x: number, y: number): void => this.views.centre(x, y);
    const wake = (): void => this.request();
    this.minimap = new Minimap(this.theme, this.lead().camera, go, wake);
    this.views = new Views(this.frames.panes, () => this.request(), this.minimap);
    this.frames.overlay(this.minimap.element);
    this.outline = new Outline((slot) => this.choose(slot, true));
    this.frames.root.append(this.outline.element);
    host.append(this.frames.root);
    this.pointer = new Pointer(this.frames.panes, this.views, {
      open: (group) => this.open(group),
      toggleBox: (slot) => this.toggleBox(slot),
      choose: (slot) => this.choose(slot, false),
      hover: (slot) => this.setHovered(slot),
      folded: (slot) => this.boxWords(slot),
      moved: () => this.minimap.linger(),
    });
    this.frames.measure();
  }

  async load(bundle: Bundle | null, given?: StatePairs): Promise<void> {
    this.work.abort();
    this.boxSearch.cancel();
    this.events.onBusy(null, 1);
    const again = bundle !== null && bundle.rewrite === this.loaded?.bundle.rewrite;
    const anchor = again ? (this.views.content?.diff.focus[0] ?? bundle.root) : -1;
    const held = again && !this.views.fitted ? this.views.screenOf(anchor) : null;
    const opened = again ? this.loaded?.boxes.opened : undefined;
    this.loaded = null;
    this.views.content = null;
    this.seen = again;
    this.step = again ? this.step : 0;
    this.marks = { ...this.marks, selected: null, group: null, hovered: null, bindings: null, fit: null };
    this.views.selected = null;
    this.frames.measure();
    this.refresh();
    if (!bundle) return;
    const pairsOf = (): StatePairs => given ?? stepPairs(timelineOf(bundle));
    const large = bundle.slots > LARGE;
    let kinds = this.foldKinds;
    if (large) {
      // Indexing takes a moment: the page says so before it starts.
      const { signal } = (this.work = new AbortController());
      const outdated = (): boolean => signal.aborted;
      this.events.onBusy(`Indexing ${bundle.slots.toLocaleString("en")} nodes`, 0);
      await new Promise((resolve) => setTimeout(resolve));
      if (outdated()) return;
      const looked = await this.boxSearch.look(timelineOf(bundle), kinds);
      if (outdated()) return;
      kinds = looked ? this.foldKinds : UNFOLDED;
    }
    const loaded = new Loaded(pairsOf(), this.layouter, kinds, opened);
    this.loaded = loaded;
    await this.arrange(() => {
      const wanted = this.wantedHere();
      if (wanted) this.views.put(wanted);
      else this.views.hold(anchor, held);
    });
    if (large && this.loaded === loaded) this.events.onBusy(null, 1);
  }

  setStep(k: number): void {
    if (Math.abs(k - this.step) > 1) this.sought = this.marks.selected;
    this.step = k;
    const { views } = this;
    if (!views.content) return;
    const { world } = views.content.picture;
    // After a jump: a node that both pictures have stays where the eye has it.
    const held = views.anchors();
    this.show();
    const now = views.content.picture;
    const wanted = this.wantedHere();
    if (wanted) views.put(wanted);
    else if (!this.seen) views.home();
    else if (now.world !== world) {
      const both = held.find(([slot]) => now.has(slot));
      if (views.fitted || !both) views.home();
      else views.hold(...both);
    }
    if (!wanted) this.revealChange();
    this.seek();
  }

  setMode(mode: DiffMode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.frames.setMerged(mode === "merged");
    this.resize();
    this.refresh();
  }

  setScope(scope: Scope): void {
    if (scope === this.scope) return;
    this.scope = scope;
    // What is selected, or else the change, stays under the eye; all else may get another place.
    const at = this.marks.selected === null ? null : this.views.screenOf(this.marks.selected);
    const focus = this.views.content?.diff.focus[0] ?? this.loaded?.bundle.root ?? -1;
    const anchor = at && this.marks.selected !== null ? this.marks.selected : focus;
    const held = at ?? this.views.screenOf(focus);
    void this.arrange(() => this.views.hold(anchor, held));
  }

  setFoldConstants(fold: boolean): void {
    this.foldConstants = fold;
    this.show();
  }

  setFold(kinds: FoldKinds): void {
    this.foldKinds = kinds;
    if (this.loaded) void this.chooseBoxes(this.loaded, kinds);
  }

  private async chooseBoxes(loaded: Loaded, kinds: FoldKinds): Promise<void> {
    const timeline = timelineOf(loaded.bundle);
    if (timeline.slots > LARGE && !(await this.boxSearch.look(timeline, kinds))) return;
    if (this.loaded !== loaded || this.foldKinds !== kinds) return;
    loaded.boxes.choose(kinds);
    this.refold(this.views.content?.diff.focus[0] ?? -1);
  }

  openBoxes(open: boolean): void {
    if (open) this.loaded?.boxes.openAll();
    else this.loaded?.boxes.closeAll();
    this.refold(this.views.content?.diff.focus[0] ?? -1);
  }

  select(slot: number | null): void {
    if (slot === this.marks.selected) return;
    this.ring(slot);
    this.sought = slot;
    this.seek();
  }

  private ring(slot: number | null): void {
    this.views.selected = slot;
    this.mark({ selected: slot, group: null });
    this.outline.select(slot);
  }

  /** Brings the node that was selected elsewhere into view: unfolds it where it is far away. */
  private seek(): void {
    const { loaded, views, sought, marks } = this;
    const { content } = views;
    if (sought === null || !loaded || !content) return;
    this.sought = null;
    if (this.wantedHere()) return; // Back looks where it looked
    const { before, after } = content;
    if (sought !== marks.selected || (!before.has(sought) && !after.has(sought))) return;
    if (this.isFar(sought)) this.unfold(() => loaded.bring(sought));
    views.follow(sought);
  }

  /** Whether a node of the shown states is folded away, far from the change. */
  private isFar(slot: number): boolean {
    const { content } = this.views;
    if (!content?.part || (!content.before.has(slot) && !content.after.has(slot))) return false;
    return !content.part.shown.has(content.picture.fold?.head[slot] ?? slot);
  }

  /** Shows more nodes; what is looked at stays where it is. */
  private unfold(more: () => void): void {
    const { views } = this;
    const was = views.content?.picture;
    const held = views.anchors();
    more();
    this.show();
    const now = views.content?.picture;
    const both = held.find(([slot]) => now?.has(slot));
    if (both && !views.fitted) views.hold(...both);
    else if (now !== was) views.home();
  }

  light(slots: readonly number[]): void {
    this.mark({ lit: slots });
  }

  markFit(marks: FitMarks | null): void {
    this.mark({ fit: marks });
    const parts = marks ? [...marks.fits, ...(marks.fails === null ? [] : [marks.fails])] : [];
    this.loaded?.keep(parts);
    if (parts.some((slot) => this.isFar(slot))) this.unfold(() => undefined);
  }

  bindings(b: readonly [string, number][] | null): void {
    this.mark({ bindings: b && namesBySlot(b) });
  }

  camera = (): CameraState | null => this.views.get();

  setCamera(state: CameraState): void {
    // Bundle and step arrive one after the other: it is kept until a frame shows that bundle.
    this.wanted = state;
    if (this.wantedHere()) this.views.put(state);
  }

  cancel(): boolean {
    if (this.boxSearch.cancel()) return true;
    this.work.abort();
    return this.running;
  }

  fit = (): void => this.views.fit();

  zoomBy = (factor: number): void => this.views.zoomBy(factor);

  revealChange(): void {
    this.views.reveal();
  }

  walk(direction: Direction): void {
    const { scene } = this.lead();
    if (!scene) return;
    const { diff, after, picture } = scene.content;
    const from = this.marks.selected;
    const start = diff.focus.find((s) => picture.has(s)) ?? after.bundle.root;
    const to = from !== null && picture.has(from) ? walkFrom(scene, from, direction) : start;
    if (to === null || !picture.has(to)) return;
    this.choose(to, true);
  }

  openGroup(): void {
    const { group, selected } = this.marks;
    if (selected !== null && this.lead().scene?.box(selected)) {
      this.toggleBox(selected);
      return;
    }
    const groups = this.views.content?.part?.groups ?? [];
    const found = group ?? groups.find((g) => selected !== null && g.anchors.includes(selected));
    if (found) this.open(found);
    else if (selected !== null) this.toggleBox(selected);
  }

  setTheme(): void {
    this.theme = readTheme(this.host);
    for (const pane of this.frames.panes) pane.setTheme(this.theme);
    this.minimap.setScene(this.lead().scene, this.theme);
    this.request();
  }

  boxAt(slot: number): { words: string; open: boolean } | null {
    const { content } = this.views;
    return content && this.loaded ? this.loaded.boxes.at(content, slot) : null;
  }

  describe(slot: number): string {
    const { content } = this.views;
    if (!content) return "";
    const words = describeSlot(slot, content.before, content.after, content.diff);
    const box = this.boxWords(slot);
    return box ? `${words}, folded: ${box}` : words;
  }

  destroy(): void {
    this.work.abort();
    this.boxSearch.cancel();
    this.layouter.destroy();
    cancelAnimationFrame(this.frame);
    this.pointer.destroy();
    this.minimap.destroy();
    this.frames.destroy();
  }

  /** The pane that is always visible: after, or merged. */
  private lead(): Pane {
    return this.frames.panes[1];
  }

  /** Shows the step, then places the view; the layout of everything may have to be waited for. */
  private async arrange(place: () => void): Promise<void> {
    const { loaded } = this;
    if (!loaded) return;
    this.work.abort();
    this.running = false;
    const work = (this.work = new AbortController());
    if (this.scope === "all") {
      this.running = true;
      const done = await loaded.layOutAll(this.lead().camera, work.signal, (text, share) =>
        this.events.onBusy(text, share),
      );
      if (this.work === work) this.running = false;
      if (!done) return;
    }
    this.show();
    place();
    this.seek();
  }

  /** Brings the replays to the step and makes the scenes of both panes. */
  private show(): void {
    const { loaded } = this;
    if (!loaded) return;
    const { camera } = this.lead();
    const k = Math.max(0, Math.min(loaded.pairs.last, Math.trunc(this.step)));
    const content = loaded.content(k, this.scope, this.foldConstants, camera);
    if (!content) return;
    this.step = k;
    this.views.content = content;
    this.marks = { ...this.marks, group: null };
    this.pointer.forget();
    this.refresh();
  }

  private refresh(): void {
    const { content } = this.views;
    const merged = this.mode === "merged";
    const [before, after] = this.frames.panes;
    before.setScene(content && !merged ? new Scene("before", content) : null);
    after.setScene(content && new Scene(merged ? "merged" : "after", content));
    this.minimap.setScene(after.scene, this.theme);
    this.outline.update(content, this.marks.selected);
    this.request();
  }

  private wantedHere(): CameraState | null {
    const { wanted, views } = this;
    return views.content?.after.bundle.rewrite === wanted?.rewrite ? wanted : null;
  }

  private resize(): void {
    this.views.resized(() => this.frames.measure());
    this.request();
  }

  /** The reader chose a node here; it is in view if the pointer did. */
  private choose(slot: number | null, seek: boolean): void {
    if (seek) this.select(slot);
    else this.ring(slot);
    this.events.onSelect(slot);
  }

  /** What is folded in the box of that slot; "" where it is none. */
  private boxWords(slot: number): string {
    const { content } = this.views;
    return (content && this.loaded?.boxes.words(content, slot)) ?? "";
  }

  private setHovered(slot: number | null): void {
    if (slot === this.marks.hovered) return;
    this.mark({ hovered: slot });
    this.events.onHover(slot);
  }

  private mark(change: Partial<Marks>): void {
    this.marks = { ...this.marks, ...change };
    this.request();
  }

  /** Draws other boxes, with a node where it was on the screen. */
  private refold(anchor: number): void {
    const { views } = this;
    const held = views.fitted ? null : views.screenOf(anchor);
    void this.arrange(() => views.hold(anchor, held));
  }

  toggleBox(slot: number): boolean {
    const { loaded, views } = this;
    if (!loaded || !views.content || !loaded.boxes.toggle(views.content, slot)) return false;
    this.refold(slot);
    return true;
  }

  /** Opens a folded group. */
  private open(group: Group): void {
    const { loaded, views } = this;
    if (!loaded) return;
    loaded.open(group);
    // What opens may need room; the node that it hangs at stays where it is.
    const anchor = group.anchors[0]!;
    const held = views.screenOf(anchor);
    this.show();
    views.hold(anchor, held);
  }

  private request(): void {
    this.frame ||= requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    this.frame = 0;
    let again = false;
    for (const pane of this.frames.panes) {
      if (pane.camera.step(now)) again = pane.camera.travelling || again;
      if (pane.draw(this.marks)) again = true;
    }
    if (this.minimap.draw(this.views.important(), now)) again = true;
    this.seen ||= this.views.content !== null;
    if (this.wantedHere()) this.wanted = null;
    this.tellSelected();
    this.report();
    if (again) this.request();
  }

  /** Where the selected node is drawn, as attributes of the panes: px from the pane's corner. */
  private tellSelected(): void {
    const rect = this.views.selectedRect();
    for (const { canvas, camera } of this.frames.panes) {
      const r = rect && camera.toScreen(rect);
      const said = r ? [r.left, r.top, r.right, r.bottom].map(Math.round).join(" ") : "";
      if (canvas.dataset["selected"] !== said) canvas.dataset["selected"] = said;
    }
  }

  private report(): void {
    const { content } = this.views;
    if (!content || !this.loaded) return;
    const stats = statsOf(content, this.lead().camera.zoom);
    const words = JSON.stringify(stats);
    if (words === this.said) return;
    this.said = words;
    this.events.onStats(stats);
  }
}
