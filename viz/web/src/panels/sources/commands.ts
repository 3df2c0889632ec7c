/** Commands of the sources: what is shown, edited and run. */
import { toggleSources } from "../../parts/kernel/room";
import {
  canEdit,
  canRunEdited,
  editableColumn,
  editOf,
  editSource,
  revert,
  runEdited,
} from "../../parts/run/edits";
import { asked, changesSomething } from "../../parts/whatif/asked";
import { canTry, compareWith, isRunning } from "../../parts/whatif/store";
import { canKeepText, keepText } from "../../parts/whatif/texts";
import { openVariants } from "../../parts/whatif/variants";
import { shownSources } from "../../state/prefs";
import { type Command } from "../../parts/command";

export const sourcesCommands: readonly Command[] = [
  {
    id: "sources",
    title: "Sources small or large",
    group: "Sources",
    keys: ["S"],
    run: () => toggleSources(),
  },
  {
    id: "edit-source",
    needs: "run",
    title: "Edit a source and run it",
    group: "Sources",
    keys: ["E"],
    when: canEdit,
    run: editSource,
  },
  {
    id: "run-edited",
    needs: "run",
    title: "Run the edited source",
    group: "Sources",
    keys: [],
    when: canRunEdited,
    run: () => runEdited(),
  },
  {
    id: "prepared",
    needs: "run",
    title: "Run the edited source, or else compile and compare the what-if",
    group: "Sources",
    keys: ["Ctrl Enter"],
    when: () => canRunEdited() || (changesSomething.value && canTry() && !isRunning()),
    run: () => (canRunEdited() ? runEdited() : void compareWith(asked.peek())),
  },
  {
    id: "keep-edited",
    needs: "run",
    title: "Keep the edited source as a variant",
    group: "Sources",
    keys: [],
    when: () => canKeepText(editableColumn.value),
    run() {
      openVariants();
      keepText(editableColumn.peek()!);
    },
  },
  {
    id: "revert-source",
    needs: "run",
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
