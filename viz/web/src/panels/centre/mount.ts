/** Puts the one stage of the page into its place, and keeps it in step with what is looked at. */
import { effect, signal } from "@preact/signals";
import { type CameraState, createStage } from "../../graph/stage";
import { announce, go, reportProblem } from "../../state/actions";
import { lookedHere, rememberWith } from "../../state/link/address";
import { asProblem } from "../../data/backend";
import { bindSlots } from "../../model/bindings";
import { bundle, currentStep, hovered, sides, step, view } from "../../state/state";
import { fitMarks, lit, stage, stats } from "../../state/stage";
import { graphLink, setScope, shownMode } from "./link";
import { foldBlocks, foldConstants, foldIndex } from "../../state/prefs";
import { themeVersion } from "../../state/theme";

/** What the stage works on, and how far it is, 0 to 1. */
export const busy = signal<{ text: string; progress: number } | null>(null);

/** Puts the stage into `host` and keeps it in step with the state. Returns what takes it away. */
export function mountStage(host: HTMLElement): () => void {
  const made = createStage(host, {
    onSelect: (slot) => go({ slot, uid: null }),
    onHover: (slot) => (hovered.value = slot),
    onStats: (s) => (stats.value = s),
    onBusy: (text, progress) => (busy.value = text === null ? null : { text, progress }),
  });
  stage.value = made;
  rememberWith(() => made.camera());
  const restore = (): void => {
    const looked = lookedHere();
    if (isCamera(looked)) made.setCamera(looked);
  };
  addEventListener("popstate", restore);
  const stops = [
    effect(() => made.setFold({ index: foldIndex.value, blocks: foldBlocks.value })),
    effect(() => {
      const b = bundle.value;
      made.load(b).catch((thrown: unknown) => reportProblem(asProblem(thrown, "graph layout")));
    }),
    effect(() => {
      void bundle.value;
      made.setStep(step.value);
    }),
    effect(() => {
      const mode = shownMode.value;
      if (mode === "side" || mode === "merged") made.setMode(mode);
    }),
    effect(() => made.setScope(graphLink.value.scope)),
    effect(() => made.setFoldConstants(foldConstants.value)),
    effect(() => {
      void bundle.value;
      made.select(view.value.slot);
    }),
    effect(() => made.light(lit.value)),
    effect(() => {
      void bundle.value;
      made.markFit(fitMarks.value);
    }),
    effect(() => {
      const both = sides.value;
      const at = currentStep.value;
      if (fitMarks.value) made.bindings(fitMarks.value.binds);
      else made.bindings(both && at ? bindSlots(at, both.before) : null);
    }),
    effect(() => {
      void themeVersion.value;
      made.setTheme();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    removeEventListener("popstate", restore);
    rememberWith(() => null);
    stage.value = null;
    made.destroy();
  };
}

/** Ends a layout of all nodes that is under way, and shows what is around the change instead. */
export function cancelLayout(): boolean {
  if (!stage.peek()?.cancel()) return false;
  setScope("change");
  announce("Layout cancelled");
  return true;
}

/** History entries outlive a version of the page: what they hold is checked. */
function isCamera(state: unknown): state is CameraState {
  if (typeof state !== "object" || state === null) return false;
  const numbers = state as Record<string, unknown>;
  return ["rewrite", "slot", "dx", "dy", "zoom"].every((key) => Number.isFinite(numbers[key]));
}
