/** Code of a file that somebody sent runs only once the reader has said so. */
import { giveLeave } from "./here";

const ASKED = "This runs code from this file on your GPU, inside the browser's sandbox.";

export function Leave() {
  return (
    <div class="runbox" role="alertdialog" aria-label="Code from this file">
      <span class="t2 el" title={ASKED}>
        {ASKED}
      </span>
      <button type="button" class="btn" onClick={() => giveLeave(false)}>
        Cancel
      </button>
      <button type="button" class="btn pri" autofocus onClick={() => giveLeave(true)}>
        Run it
      </button>
    </div>
  );
}
