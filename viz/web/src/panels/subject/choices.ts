/** What the menus of the subject line list. */
import { ancestry, kindOfRow } from "../../data/rows";
import type { Row } from "../../data/messages/run";
import { capital, plural, short } from "../../state/format";
import { compiledRowOf, currentRow, rows, subjectRowOf, subjects } from "../../state/state";
import type { Entry } from "../../ui/over/Choice";

/** "Kernel", "Schedule"; of what has no such word "Context". */
export const titled = (label: string): string =>
  label ? capital(short(label, 40)) : "Context";

/** Every kernel, schedule and other context of the run that passes stand in, in order; and the first
 * pass of those that stand in none. */
export function entriesOfRun(): Entry[] {
  const all = subjects.peek().map((r) => ({
    key: String(r.row),
    title: r.name,
    hint: r.label === "kernel" ? short(r.calls, 40) : short(kindOfRow(r), 40),
  }));
  const loose = rows.peek().find((r) => r.kind === "rewrite" && subjectRowOf.peek()[r.row] === -1);
  return loose ? [...all, { key: String(loose.row), title: "Outside of kernels" }] : all;
}

/** The passes of what the current one belongs to; of what was compiled on request those of its target. */
export function entriesBeside(): Entry[] {
  const now = currentRow.peek();
  if (!now) return [];
  const of = (r: Row): number | undefined => subjectRowOf.peek()[r.row];
  const compiled = (r: Row): number | undefined => compiledRowOf.peek()[r.row];
  return rows
    .peek()
    .filter((r) => r.kind === "rewrite" && of(r) === of(now) && compiled(r) === compiled(now))
    .map((r) => ({
      key: String(r.id),
      before: "\u00a0".repeat(2 * (nesting(r) - 1)),
      title: r.name,
      hint: r.steps ? plural(r.steps, "step") : "no step",
    }));
}

/** In how many passes it stands, itself included. */
const nesting = (row: Row): number =>
  ancestry(rows.peek(), row.row).filter((r) => r.kind === "rewrite").length;
