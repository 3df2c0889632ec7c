/** What the page can ask of the graph panes, and what they tell the page. Types only. */
import type { Bundle } from "../data/messages/bundle";
import type { StatePairs } from "../model/pair/statePairs";
import type { FitMarks } from "./paint/fit";
import type { Scope } from "./picture/pictures";
import type { Direction } from "./walk";

export type { FitMarks } from "./paint/fit";
export type { Scope } from "./picture/pictures";
export type DiffMode = "side" | "merged";

/** What is folded into boxes. */
export interface FoldKinds {
  index: boolean;
  blocks: boolean;
}

/** What the panes are called for those who do not see them. */
export interface PaneNames {
  before: string;
  after: string;
  merged: string;
}

export interface StageEvents {
  onSelect(slot: number | null): void;
  onHover(slot: number | null): void;
  onStats(stats: StageStats): void;
  /** Work of more than 50 ms: a sentence and the share done; null when it is over. */
  onBusy(text: string | null, progress: number): void;
}

export interface StageStats {
  /** Nodes of the state after the step: drawn, in all, in boxes, and far away. */
  shown: number;
  total: number;
  folded: number;
  hidden: number;
  zoom: number;
}

/** What the panes look at, so that Back can look there again; plain data. */
export interface CameraState {
  /** The pass that the node belongs to. */
  rewrite: number;
  /** The node nearest to the middle, -1 for the first view of a picture. */
  slot: number;
  /** From that node to the middle of the pane, px at zoom 1. */
  dx: number;
  dy: number;
  zoom: number;
}

export interface Stage {
  /**
   * Shows a bundle, or nothing; with `pairs`, those of its states in place of its steps. The same
   * rewrite again (with more steps) keeps the view.
   *
   * @throws BundleError for a bundle that contradicts itself
   */
  load(bundle: Bundle | null, pairs?: StatePairs): Promise<void>;
  /** Shows the step that leads to state k, or pair k; 0 is the input graph. */
  setStep(k: number): void;
  setMode(mode: DiffMode): void;
  setScope(scope: Scope): void;
  /** Leaves constants out of "around change", or shows them (the default). */
  setFoldConstants(fold: boolean): void;
  /** Folds index expressions and repeated blocks into boxes, in both scopes. */
  setFold(kinds: FoldKinds): void;
  /** Opens every box, or folds what was opened. */
  openBoxes(open: boolean): void;
  /** Rings the slot in both panes. */
  select(slot: number | null): void;
  /** Rings slots that something elsewhere on the page stands for. */
  light(slots: readonly number[]): void;
  /** Lights the parts of a pattern that fit and marks the one that does not, in both panes; brings
   * them into view where they are far from the change. */
  markFit(marks: FitMarks | null): void;
  /** Letters on the nodes that the pattern's names bound, in the pane before. */
  bindings(b: readonly [string, number][] | null): void;
  /** null without a picture. */
  camera(): CameraState | null;
  /** Looks there again, without a travel: now, or as soon as that pass is loaded. */
  setCamera(state: CameraState): void;
  /** Ends a layout that is under way; what was shown before stays. False if there was none. */
  cancel(): boolean;
  fit(): void;
  zoomBy(factor: number): void;
  /** Goes to the change if it is out of view. */
  revealChange(): void;
  walk(direction: Direction): void;
  /** Opens the box or the folded group at the selected node, or folds what was opened there. */
  openGroup(): void;
  /** The box that the slot is folded into, in words; or that it is in one that was opened. */
  boxAt(slot: number): { words: string; open: boolean } | null;
  /** Opens the box that the slot is in, or folds the one again that it was in; false without one. */
  toggleBox(slot: number): boolean;
  /** Reads the style sheet's colours again. */
  setTheme(): void;
  /** "MUL, int32, source 0 moved" */
  describe(slot: number): string;
  destroy(): void;
}
