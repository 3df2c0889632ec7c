/** What of a tile is not drawn. */
import { count } from "../../../state/format";

export function Cut({
  rows,
  columns,
  shown,
}: {
  rows: number;
  columns: number;
  shown: readonly number[];
}) {
  if (rows === shown[0] && columns === shown[1]) return null;
  return (
    <p class="t2">
      The first {shown[0]} rows and {shown[1]} columns are shown, of {count(rows)} ×{" "}
      {count(columns)}
    </p>
  );
}
