/** Every command of the page: one table for keys, palette and key sheet. */
import { runKernel, canRun, cancelRun } from "../panels/sources/RunBox";
import { toggleDrawer } from "../panels/sources/Drawer";
import { foldAll, unfoldAll } from "../panels/navigator/tree";
import { copyText, openEditor } from "../ui/Text";
import {
  announce,
  cancelLoading,
  clearFilters,
  data,
  go,
  goStep,
  nextKernel,
  nextMatch,
  nextRewrite,
  reloadBundle,
  select,
  setMode,
  stepBy,
  toggleNodeFilter,
  toggleRuleFilter,
  toggleScope,
} from "./actions";
import { letterKeys, shownSources, sizes } from "./prefs";
import {
  bundle,
  currentKernel,
  currentRule,
  currentStep,
  filtered,
  loading,
  newSteps,
  overlay,
  sidePanel,
  step,
  stepCount,
  view,
} from "./state";
import { stage } from "./stage";
import { toggleTheme } from "./theme";
import { focusRegion } from "./regions";

export interface Command {
  id: string;
  title: string;
  group: "Steps" | "Graph" | "Rule and node" | "Sources" | "Page";
  /** As `keyName` gives them: "N", "Shift N", "Ctrl K", "ArrowLeft". */
  keys: readonly string[];
  run: () => void;
  /** Whether it does anything now; always if absent. */
  when?: () => boolean;
}

const hasPass = (): boolean => bundle.value !== null;
const hasStep = (): boolean => currentStep.value !== null;
const hasSlot = (): boolean => view.value.slot !== null;
const live = (): boolean => data().server !== null;

/** Esc undoes the innermost thing that is open or running. */
function escape(): void {
  if (overlay.peek()) overlay.value = null;
  else if (sidePanel.peek()) sidePanel.value = null;
  else if (loading.peek()) cancelLoading();
  else if (cancelRun()) announce("Run cancelled");
  else if (view.peek().slot !== null) select(null);
}

export const commands: readonly Command[] = [
  { id: "next", title: "Next step", group: "Steps", keys: ["ArrowRight"], when: () => step.value < stepCount.value, run: () => stepBy(1) },
  { id: "prev", title: "Previous step", group: "Steps", keys: ["ArrowLeft"], when: () => step.value > 0, run: () => stepBy(-1) },
  { id: "first", title: "Input graph", group: "Steps", keys: ["Home"], when: hasPass, run: () => goStep(0) },
  { id: "last", title: "Last step", group: "Steps", keys: ["End"], when: hasPass, run: () => goStep(stepCount.peek()) },
  { id: "match", title: "Next match of this rule", group: "Steps", keys: ["N"], when: hasStep, run: () => nextMatch(1) },
  { id: "match-back", title: "Previous match of this rule", group: "Steps", keys: ["Shift N"], when: hasStep, run: () => nextMatch(-1) },
  { id: "pass", title: "Next pass", group: "Steps", keys: ["]"], run: () => nextRewrite(1) },
  { id: "pass-back", title: "Previous pass", group: "Steps", keys: ["["], run: () => nextRewrite(-1) },
  { id: "kernel", title: "Next kernel", group: "Steps", keys: ["}"], run: () => nextKernel(1) },
  { id: "kernel-back", title: "Previous kernel", group: "Steps", keys: ["{"], run: () => nextKernel(-1) },
  { id: "new", title: "Show the new steps", group: "Steps", keys: [], when: () => newSteps.value > 0, run: reloadBundle },

  { id: "scope", title: "All nodes, or around the change", group: "Graph", keys: ["A"], when: hasPass, run: toggleScope },
  { id: "merged", title: "Before and after in one graph", group: "Graph", keys: ["M"], when: hasPass, run: () => setMode("merged") },
  { id: "text", title: "Text diff", group: "Graph", keys: ["D"], when: hasPass, run: () => setMode("text") },
  { id: "fit", title: "Fit the graph", group: "Graph", keys: ["0"], when: hasPass, run: () => stage.peek()?.fit() },
  { id: "in", title: "Zoom in", group: "Graph", keys: ["+", "="], when: hasPass, run: () => stage.peek()?.zoomBy(1.25) },
  { id: "out", title: "Zoom out", group: "Graph", keys: ["-"], when: hasPass, run: () => stage.peek()?.zoomBy(0.8) },
  { id: "reveal", title: "Bring the change into view", group: "Graph", keys: ["C"], when: hasStep, run: () => stage.peek()?.revealChange() },
  { id: "walk-h", title: "Walk to the node on the left", group: "Graph", keys: ["H"], when: hasPass, run: () => stage.peek()?.walk("h") },
  { id: "walk-j", title: "Walk to a user", group: "Graph", keys: ["J"], when: hasPass, run: () => stage.peek()?.walk("j") },
  { id: "walk-k", title: "Walk to a source", group: "Graph", keys: ["K"], when: hasPass, run: () => stage.peek()?.walk("k") },
  { id: "walk-l", title: "Walk to the node on the right", group: "Graph", keys: ["L"], when: hasPass, run: () => stage.peek()?.walk("l") },
  { id: "group", title: "Open the folded group", group: "Graph", keys: ["Enter"], when: hasSlot, run: () => stage.peek()?.openGroup() },

  { id: "rule", title: "Only steps of this rule", group: "Rule and node", keys: ["F"], when: hasStep, run: () => currentStep.peek() && toggleRuleFilter(currentStep.peek()!.rule) },
  { id: "node", title: "Only steps that touch the selected node", group: "Rule and node", keys: ["T"], when: hasSlot, run: () => toggleNodeFilter(view.peek().slot!) },
  { id: "clear", title: "Clear all filters", group: "Rule and node", keys: ["X"], when: () => filtered.value, run: clearFilters },
  { id: "matched", title: "Select the matched node", group: "Rule and node", keys: ["G"], when: hasStep, run: () => select(currentStep.peek()!.result) },
  { id: "editor", title: "Open the rule in the editor", group: "Rule and node", keys: ["O"], when: () => currentRule.value !== null, run: () => openEditor(currentRule.peek()!.file, currentRule.peek()!.line) },
  { id: "tab", title: "Step or node in the inspector", group: "Rule and node", keys: ["I"], run: () => go({ tab: view.peek().tab === "step" ? "node" : "step" }, "replace") },

  { id: "drawer", title: "Open or close the sources", group: "Sources", keys: ["S"], run: () => toggleDrawer("source") },
  { id: "problems", title: "Problems", group: "Sources", keys: ["Shift P"], run: () => toggleDrawer("problems") },
  { id: "run", title: "Run the kernel", group: "Sources", keys: ["R"], when: canRun, run: runKernel },
  { id: "sources-reset", title: "Let the page choose the sources", group: "Sources", keys: [], when: () => shownSources.value !== null, run: () => (shownSources.value = null) },

  { id: "palette", title: "Search or run a command", group: "Page", keys: ["Ctrl K"], run: () => (overlay.value = "palette") },
  { id: "search", title: "Search the run", group: "Page", keys: ["/"], run: () => focusSearch() },
  { id: "keys", title: "All keys", group: "Page", keys: ["?"], run: () => (overlay.value = "keys") },
  { id: "back", title: "Back", group: "Page", keys: ["Alt ArrowLeft"], run: () => history.back() },
  { id: "forward", title: "Forward", group: "Page", keys: ["Alt ArrowRight"], run: () => history.forward() },
  { id: "link", title: "Copy a link to this step", group: "Page", keys: ["Y"], run: () => copyText(location.href, "The link") },
  { id: "export", title: "Export the whole run as one file", group: "Page", keys: ["E"], when: live, run: () => location.assign(data().server!.exportUrl([])) },
  { id: "export-kernel", title: "Export this kernel as one file", group: "Page", keys: [], when: () => live() && currentKernel.value !== null, run: () => location.assign(data().server!.exportUrl([currentKernel.peek()!.id])) },
  { id: "theme", title: "Light or dark", group: "Page", keys: [], run: toggleTheme },
  { id: "letters", title: "Single-letter keys on or off", group: "Page", keys: [], run: () => { letterKeys.value = !letterKeys.peek(); announce(`Single-letter keys are ${letterKeys.peek() ? "on" : "off"}`); } },
  { id: "sizes", title: "Reset the panel sizes", group: "Page", keys: [], run: () => (sizes.value = { nav: null, insp: null, scrub: null, drawer: null }) },
  { id: "fold", title: "Fold the navigator", group: "Page", keys: [], run: foldAll },
  { id: "unfold", title: "Unfold the navigator", group: "Page", keys: [], run: unfoldAll },
  { id: "region", title: "Next region of the page", group: "Page", keys: ["F6"], run: () => focusRegion(1) },
  { id: "region-back", title: "Previous region of the page", group: "Page", keys: ["Shift F6"], run: () => focusRegion(-1) },
  { id: "escape", title: "Close, cancel, or clear the selection", group: "Page", keys: ["Escape"], run: escape },
];

function focusSearch(): void {
  if (matchMedia("(max-width: 1079px)").matches) sidePanel.value = "nav";
  requestAnimationFrame(() => {
    const input = document.querySelector<HTMLInputElement>("#search");
    input?.focus();
    input?.select();
  });
}

/** Whether the command does something now. */
export const enabled = (c: Command): boolean => c.when?.() ?? true;
