/** Copies texts, and says so. */
import { useState } from "preact/hooks";
import { announce, reportProblem } from "../../state/actions";
import { Icon } from "../Icon";

/** Copies, and says so; false where the browser does not allow it. */
export async function copyText(text: string, what: string): Promise<boolean> {
  try {
    // A page that came over a plain network has no clipboard at all.
    await navigator.clipboard.writeText(text);
  } catch {
    reportProblem({
      what: "The browser did not allow copying",
      where: what,
      hint: "Select the text and copy it by hand.",
    });
    announce("Not copied: the browser did not allow it");
    return false;
  }
  announce(`${what} copied`);
  return true;
}

/** How long a button says that its text has been copied, ms. */
export const SAID_MS = 1600;

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      class="btn sm ico quiet"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => {
        void copyText(text, `${what.charAt(0).toUpperCase()}${what.slice(1)}`).then((copied) => {
          setDone(copied);
          setTimeout(() => setDone(false), SAID_MS);
        });
      }}
    >
      {done ? "✓" : <Icon name="copy" />}
    </button>
  );
}
