/** Brings the lines of a source into view. */
import { openDrawer } from "../../state/drawer";
import { shownSources } from "../../state/prefs";
import { columnKey } from "./columns";
import { shownColumns } from "./kernel";

/** Opens the drawer with the column of an artifact, where the marked lines are. */
export function showLines(artifact: { kind: string; target: string }): void {
  const key = columnKey(artifact);
  if (!shownColumns.peek().includes(key)) shownSources.value = [...shownColumns.peek(), key];
  openDrawer("source");
}
