/** Commands of the sources: what is shown, edited and run. */
import { kindOf, targetOf } from "../../parts/kernel/columns";
import { toggleDrawer } from "../../state/drawer";
import { showLines } from "../../parts/kernel/show";
import { beginEdit, canRunEdited, editableColumn, editOf, revert, runEdited } from "./edit/edits";
import { canRun, runKernel } from "./run/RunBox";
import { shownSources } from "../../state/prefs";
import { type Command } from "../../parts/command";

export const sourcesCommands: readonly Command[] = [
  {
    id: "drawer",
    title: "Open or close the sources",
    group: "Sources",
    keys: ["S"],
    run: () => toggleDrawer("source"),
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
