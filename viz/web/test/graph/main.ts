/**
 * The graph panes alone, for looking at and for measuring; never part of the build.
 *
 * ?graph=URL of a graph's JSON (none: the design's example) &steps=N &step=K &mode=side|merged
 * &scope=change|all &theme=light|dark
 */
import { createStage, type StageStats } from "../../src/graph/stage";
import { bundleOf, designBundle, type Graph } from "../model/fixtures";

const query = new URLSearchParams(location.search);
document.documentElement.dataset["theme"] = query.get("theme") ?? "light";

declare global {
  interface Window {
    stage: ReturnType<typeof createStage>;
    stats: StageStats | null;
    busy: string[];
    selected: number | null;
    ready: boolean;
  }
}

window.stats = null;
window.busy = [];
const stage = createStage(document.getElementById("host")!, {
  onSelect: (slot) => (window.selected = slot),
  onHover: () => undefined,
  onStats: (s) => (window.stats = s),
  onBusy: (text, progress) => window.busy.push(`${text ?? "-"} ${progress.toFixed(2)}`),
});
window.stage = stage;
const url = query.get("graph");
const bundle = url
  ? bundleOf((await (await fetch(url)).json()) as Graph, Number(query.get("steps") ?? 40))
  : designBundle();
if (query.get("mode") === "merged") stage.setMode("merged");
if (query.get("scope") === "all") stage.setScope("all");
stage.setStep(Number(query.get("step") ?? 1));
const k = Number(query.get("step") ?? 1);
await stage.load(bundle);
stage.setStep(k);
const step = bundle.steps[k - 1];
if (step) {
  const slotOf = (node: number): number => bundle.initial.node.indexOf(node);
  stage.bindings(
    step.binds.map(([name, node]): [string, number] => [name, slotOf(node)]).filter(([, s]) => s >= 0),
  );
  if (!url) stage.select(step.moved[0] ?? null);
}
window.ready = true;
