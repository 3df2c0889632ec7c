/** Asks the reader before code of an exported file runs. */
import { answerConsent } from "./here";

const ASKED = "This runs code from this file on your GPU, inside the browser's sandbox.";

export function Consent() {
  return (
    <div class="runbox" role="alertdialog" aria-label="Code from this file">
      <span class="t2 el" title={ASKED}>
        {ASKED}
      </span>
      <button type="button" class="btn" onClick={() => answerConsent(false)}>
        Cancel
      </button>
      <button type="button" class="btn pri" autofocus onClick={() => answerConsent(true)}>
        Run it
      </button>
    </div>
  );
}
