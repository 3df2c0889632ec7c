/** A kernel as a whole, in a sentence; nothing where it was not asked for. */
import { short } from "../../state/format";
import { rows } from "../../state/state";
import { marks, wholes } from "./checks";
import { wholeWords } from "./wholes";

/** `kernel`: its context. */
export function WholeSaid({ kernel, class: more = "" }: { kernel: number; class?: string }) {
  const one = wholes.value.get(kernel);
  if (!one) return null;
  const row = rows.value.find((row) => row.kind === "context" && row.id === kernel);
  const counts = marks.value[row?.row ?? -1]?.counts;
  return (
    <p class={`small check-said ${more} ${one.state === "differs" ? "cdel" : "t2"}`}>
      {short(wholeWords(one, (counts?.differs ?? 0) > 0), 600)}
    </p>
  );
}
