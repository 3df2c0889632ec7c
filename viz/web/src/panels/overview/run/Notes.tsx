/** Who made the run, where it was not made here, and what has changed since: quiet lines. What an exported
 * file cannot do anyway is not said there. */
import { data } from "../../../state/actions";
import { short } from "../../../state/format";
import { since } from "../../../ui/code/since";

export function Notes() {
  const notes = since.value?.notes ?? [];
  if (!notes.length) return null;
  return (
    <ul class="ov-notes" aria-label="Since the run">
      {notes.map((note) => (
        <li key={note.what}>
          <span class="badge mov">
            <span aria-hidden="true">◆</span> {short(note.what, 300)}
          </span>{" "}
          <span class="t2">{data().server ? note.hint : note.hint.split("; ")[0]}</span>
        </li>
      ))}
    </ul>
  );
}
