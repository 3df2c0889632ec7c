/** Commands about the rule and the selected node. */
import { walkHistory } from "./history/along";
import { togglePin } from "./pinned";
import { openEditor } from "../../ui/Text";
import { clearFilters, go, select, toggleNodeFilter, toggleRuleFilter } from "../../state/actions";
import type { Tab } from "../../state/link/view";
import { currentRule, currentStep, filtered, view } from "../../state/state";
import { type Command, hasPass, hasSlot, hasStep } from "../../parts/command";

const nextTab = (tab: Tab): Tab => (tab === "step" ? "node" : tab === "node" ? "why" : "step");

export const inspectorCommands: readonly Command[] = [
  {
    id: "rule",
    title: "Show only steps of this rule",
    group: "Rule and node",
    keys: ["F"],
    when: hasStep,
    run: () => currentStep.peek() && toggleRuleFilter(currentStep.peek()!.rule),
  },
  {
    id: "node",
    title: "Show only steps that affect the selected node",
    group: "Rule and node",
    keys: ["T"],
    when: hasSlot,
    run: () => toggleNodeFilter(view.peek().slot!),
  },
  {
    id: "clear",
    title: "Clear all filters",
    group: "Rule and node",
    keys: ["X"],
    when: () => filtered.value,
    run: clearFilters,
  },
  {
    id: "matched",
    title: "Select the matched node",
    group: "Rule and node",
    keys: ["G"],
    when: hasStep,
    run: () => select(currentStep.peek()!.result),
  },
  {
    id: "later",
    title: "Next event in the node's history",
    group: "Rule and node",
    keys: ["Shift J"],
    when: hasSlot,
    run: () => walkHistory(1),
  },
  {
    id: "earlier",
    title: "Previous event in the node's history",
    group: "Rule and node",
    keys: ["Shift K"],
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
    keys: ["O"],
    when: () => currentRule.value !== null,
    run: () => openEditor(currentRule.peek()!.file, currentRule.peek()!.line),
  },
  {
    id: "tab",
    title: "Switch the inspector between step, node and why not",
    group: "Rule and node",
    keys: ["I"],
    run: () => go({ tab: nextTab(view.peek().tab) }, "replace"),
  },
];
