/** Commands of the sources: what is shown, edited and run. */
import { kindOf, targetOf } from "../../parts/kernel/columns";
import { openDrawer, toggleDrawer } from "../../state/drawer";
import { showLines } from "../../parts/kernel/show";
import {
  beginEdit,
  canRunEdited,
  editableColumn,
  editOf,
  revert,
  runEdited,
} from "../../parts/source/edits";
import { canKeepText, keepText } from "../../parts/whatif/texts";
import { canRun, runKernel } from "../../parts/run/RunBox";
import { shownSources } from "../../state/prefs";
import { type Command } from "../../parts/command";

export const sourcesCommands: readonly Command[] = [
  {
    id: "drawer",
    title: "Show or hide the sources",
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
    title: "Edit a source and run it",
    group: "Sources",
    keys: ["Shift E"],
    when: () => editableColumn.value !== null && !editOf(editableColumn.value),
    run: editSource,
  },
  {
    id: "run-edited",
    title: "Run the edited source",
    group: "Sources",
    keys: ["Ctrl Enter"],
    when: canRunEdited,
    run: () => runEdited(),
  },
  {
    id: "keep-edited",
    title: "Keep the edited source as a variant",
    group: "Sources",
    keys: ["Ctrl Shift Enter"],
    when: () => canKeepText(editableColumn.value),
    run() {
      openDrawer("variants");
      keepText(editableColumn.peek()!);
    },
  },
  {
    id: "revert-source",
    title: "Discard the edits",
    group: "Sources",
    keys: [],
    when: () => editableColumn.value !== null && editOf(editableColumn.value) !== undefined,
    run: () => revert(editableColumn.peek()!),
  },
  {
    id: "sources-reset",
    title: "Reset the source columns",
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
