/** Commands about the rule, the selected node and the kernel's sources. */
import { walkHistory } from "./along";
import { togglePin } from "./pinned";
import { kindOf, targetOf } from "../../parts/kernel/columns";
import { showLines, toggleDrawer } from "../sources/Drawer";
import {
  beginEdit,
  canRunEdited,
  editableColumn,
  editOf,
  revert,
  runEdited,
} from "../sources/edits";
import { canRun, runKernel } from "../sources/RunBox";
import { openEditor } from "../../ui/Text";
import { clearFilters, go, select, toggleNodeFilter, toggleRuleFilter } from "../../state/actions";
import { shownSources } from "../../state/prefs";
import { currentRule, currentStep, filtered, view } from "../../state/state";
import { type Command, hasPass, hasSlot, hasStep } from "../../parts/command";

export const subjectCommands: readonly Command[] = [
  {
    id: "rule",
    title: "Only steps of this rule",
    group: "Rule and node",
    keys: ["F"],
    when: hasStep,
    run: () => currentStep.peek() && toggleRuleFilter(currentStep.peek()!.rule),
  },
  {
    id: "node",
    title: "Only steps that touch the selected node",
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
    title: "Later in the node's history",
    group: "Rule and node",
    keys: ["Shift J"],
    when: hasSlot,
    run: () => walkHistory(1),
  },
  {
    id: "earlier",
    title: "Earlier in the node's history",
    group: "Rule and node",
    keys: ["Shift K"],
    when: hasSlot,
    run: () => walkHistory(-1),
  },
  {
    id: "pin",
    title: "Pin the node or rule that the inspector shows",
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
    title: "Step or node in the inspector",
    group: "Rule and node",
    keys: ["I"],
    run: () => go({ tab: view.peek().tab === "step" ? "node" : "step" }, "replace"),
  },
  {
    id: "drawer",
    title: "Open or close the sources",
    group: "Sources",
    keys: ["S"],
    run: () => toggleDrawer("source"),
  },
  {
    id: "problems",
    title: "Problems",
    group: "Sources",
    keys: ["Shift P"],
    run: () => toggleDrawer("problems"),
  },
  {
    id: "run",
    title: "Run the kernel",
    group: "Sources",
    keys: ["R"],
    when: canRun,
    run: runKernel,
  },
  {
    id: "edit-source",
    title: "Edit a source text of the kernel, to run it",
    group: "Sources",
    keys: ["Shift E"],
    when: () => editableColumn.value !== null && !editOf(editableColumn.value),
    run: editSource,
  },
  {
    id: "run-edited",
    title: "Run the edited text",
    group: "Sources",
    keys: ["Ctrl Enter"],
    when: canRunEdited,
    run: () => runEdited(),
  },
  {
    id: "revert-source",
    title: "Revert the edited text",
    group: "Sources",
    keys: [],
    when: () => editableColumn.value !== null && editOf(editableColumn.value) !== undefined,
    run: () => revert(editableColumn.peek()!),
  },
  {
    id: "sources-reset",
    title: "Let the page choose the sources",
    group: "Sources",
    keys: [],
    when: () => shownSources.value !== null,
    run: () => (shownSources.value = null),
  },
];

/** Shows the column of a text that can be edited, and begins. */
function editSource(): void {
  const column = editableColumn.peek()!;
  showLines({ kind: kindOf(column), target: targetOf(column) });
  beginEdit(column);
}
