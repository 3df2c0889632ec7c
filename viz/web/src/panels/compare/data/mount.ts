/** Puts a stage with both passes into its place, and keeps it in step with what is looked at. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { asProblem } from "../../../data/backend";
import { createStage, type Stage, type StageStats } from "../../../graph/stage";
import { reportProblem } from "../../../state/actions";
import { themeVersion } from "../../../state/theme";
import { passes, shownPairs } from "./walk";
import { litSlots } from "./lines";
import { compareLink, show } from "./link";

/** The stage of the walk while it is on the page, and its message. */
export const stage = signal<Stage | null>(null);
export const stats = signal<StageStats | null>(null);
export const busy = signal<{ text: string; progress: number } | null>(null);

const NAMES = { before: "Graph of A", after: "Graph of B", merged: "Graphs of A and B, merged" };

interface Wishes {
  row: ReadonlySignal<number>;
  /** The two graphs of the overview: always side by side, and selecting is not for them. */
  small?: boolean;
}

/** Returns what takes the stage away. */
export function mountPair(host: HTMLElement, { row, small = false }: Wishes): () => void {
  const made = createStage(
    host,
    {
      onSelect: (slot) => (small ? undefined : show({ slot }, "replace")),
      onHover: () => undefined,
      onStats: (s) => small || (stats.value = s),
      onBusy: (text, progress) => small || (busy.value = text === null ? null : { text, progress }),
    },
    NAMES,
  );
  if (!small) stage.value = made;
  const shown = (): ReturnType<typeof shownPairs.peek> =>
    small ? (passes.value?.pairs ?? null) : shownPairs.value;
  const stops = [
    effect(() => {
      const pairs = shown();
      made
        .load(pairs?.timeline.bundle ?? null, pairs ?? undefined)
        .catch((thrown: unknown) => reportProblem(asProblem(thrown, "graph layout")));
    }),
    effect(() => {
      void shown();
      made.setStep(row.value);
    }),
    effect(() => {
      void themeVersion.value;
      made.setTheme();
    }),
    effect(() => made.light(litSlots.value)),
  ];
  if (!small)
    stops.push(
      effect(() => made.setScope(compareLink.value.whole ? "all" : "change")),
      effect(() => made.setMode(compareLink.value.merged ? "merged" : "side")),
      effect(() => {
        void shown();
        made.select(compareLink.value.slot);
      }),
    );
  return () => {
    for (const stop of stops) stop();
    if (!small) {
      stage.value = null;
      stats.value = null;
      busy.value = null;
    }
    made.destroy();
  };
}
