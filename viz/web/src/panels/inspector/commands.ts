/** Commands about the rule and the selected node. */
import { ACTIONS } from "./Actions";
import { SMALL } from "./why/commands";
import { walkHistory } from "./history/along";
import { togglePin } from "./pinned";
import { openEditor } from "../../ui/code/Text";
import { clearFilters, go, select, toggleNodeFilter, toggleRuleFilter } from "../../state/actions";
import type { Tab } from "../../state/link/view";
import { pressButton } from "../../state/regions";
import { currentRule, currentStep, filtered, sidePanel, view, windowWidth } from "../../state/state";
import { type Command, hasPass, hasSlot, hasStep } from "../../parts/command";

const nextTab = (tab: Tab): Tab => (tab === "step" ? "node" : "step");

export const inspectorCommands: readonly Command[] = [
  {
    id: "only",
    title: "Only steps of this rule, or of the node in the tab Node; again: all",
    words: "filter show",
    group: "Rule and node",
    keys: ["F"],
    when: hasStep,
    run: only,
  },
  {
    id: "actions",
    title: "Actions on the rule of this step",
    words: "menu what if",
    group: "Rule and node",
    keys: ["."],
    when: () => hasStep() && currentRule.value !== null,
    run: openActions,
  },
  {
    id: "rule",
    title: "Show only steps of this rule",
    words: "filter",
    group: "Rule and node",
    keys: [],
    when: hasStep,
    run: () => currentStep.peek() && toggleRuleFilter(currentStep.peek()!.rule),
  },
  {
    id: "node",
    title: "Show only steps that affect the selected node",
    group: "Rule and node",
    keys: [],
    when: hasSlot,
    run: () => toggleNodeFilter(view.peek().slot!),
  },
  {
    id: "clear",
    title: "Clear all filters",
    group: "Rule and node",
    keys: [],
    when: () => filtered.value,
    run: clearFilters,
  },
  {
    id: "matched",
    title: "Select the matched node",
    group: "Rule and node",
    keys: [],
    when: hasStep,
    run: () => select(currentStep.peek()!.result),
  },
  {
    id: "later",
    title: "Next event in the node's history",
    group: "Rule and node",
    keys: [],
    when: hasSlot,
    run: () => walkHistory(1),
  },
  {
    id: "earlier",
    title: "Previous event in the node's history",
    group: "Rule and node",
    keys: [],
    when: hasSlot,
    run: () => walkHistory(-1),
  },
  {
    id: "pin",
    title: "Pin the node or rule in the inspector",
    group: "Rule and node",
    keys: ["P"],
    when: hasPass,
    run: togglePin,
  },
  {
    id: "editor",
    title: "Open the rule in the editor",
    group: "Rule and node",
    keys: [],
    when: () => currentRule.value !== null,
    run: () => openEditor(currentRule.peek()!.file, currentRule.peek()!.line),
  },
  {
    id: "tab",
    title: "Switch the inspector between rule and node",
    group: "Rule and node",
    keys: [],
    run: () => go({ tab: nextTab(view.peek().tab) }, "replace"),
  },
];

/** Filters to the rule of the step, or to the node while its tab is open; removes filters again. */
function only(): void {
  const { slot, tab } = view.peek();
  if (filtered.peek()) clearFilters();
  else if (tab === "node" && slot !== null) toggleNodeFilter(slot);
  else if (currentStep.peek()) toggleRuleFilter(currentStep.peek()!.rule);
}

function openActions(): void {
  if (view.peek().tab !== "step") go({ tab: "step" }, "replace");
  if (windowWidth.peek() < SMALL) sidePanel.value = "insp";
  requestAnimationFrame(() => pressButton(`#${ACTIONS}`));
}
