/** Editing the text that is emulated: the editor is where sources are. */
import { emulatedColumn } from "../../parts/emulation/store";
import { beginEdit, editOf, showEdit } from "../../parts/run/edits";
import { go } from "../../state/actions";

export function editText(): void {
  const column = emulatedColumn.peek();
  if (column === null) return;
  go({ page: "graphs" });
  if (editOf(column)) showEdit(column);
  else beginEdit(column);
}
