/** A text of a trace that may be long: cut with its length, and whole on request. */
import { useState } from "preact/hooks";
import { clip, count } from "../../../state/format";

const SHORT = 200;
const LONGEST = 20_000;

export function Long({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const shown = clip(text, open ? LONGEST : SHORT);
  return (
    <span class="clip">
      {shown.text}
      {shown.cut > 0 && (
        <button type="button" class="link num" onClick={() => setOpen(!open)} disabled={open}>
          {" "}
          … {count(shown.cut)} more characters
        </button>
      )}
    </span>
  );
}
