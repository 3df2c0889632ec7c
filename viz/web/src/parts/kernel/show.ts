/** Brings the lines of a source into view. */
import { columnKey } from "./columns";
import { showColumn } from "./kernel";
import { openSources } from "./room";

/** Makes room for the column of an artifact, where the marked lines are. */
export function showLines(artifact: { kind: string; target: string }): void {
  showColumn(columnKey(artifact));
  openSources();
}
