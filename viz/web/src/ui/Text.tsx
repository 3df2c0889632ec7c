/** Texts of a trace: always text nodes, clipped when huge, places as links to the editor. */
import { useState } from "preact/hooks";
import { announce, data, reportProblem } from "../state/actions";
import { baseName, clip, count, short } from "../state/format";
import { showRecorded } from "./code/RecordedText";
import { asProblem } from "../data/backend";
import { Icon } from "./Icon";

/** At most `limit` characters; the rest on demand, and never without a count. */
export function Clipped({ text, limit = 300 }: { text: string; limit?: number }) {
  const [full, setFull] = useState(false);
  if (full) return <span class="clip">{text}</span>;
  const { text: shown, cut } = clip(text, limit);
  if (!cut) return <span class="clip">{shown}</span>;
  return (
    <span class="clip">
      {shown}
      {"… "}
      <button type="button" class="link" onClick={() => setFull(true)}>
        {count(cut)} more characters
      </button>
    </span>
  );
}

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
    return false;
  }
  announce(`${what} copied`);
  return true;
}

/** How long a button says that its text has been copied, ms. */
const SAID_MS = 1200;

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      class="btn sm ico quiet"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => {
        void copyText(text, what).then((copied) => {
          setDone(copied);
          setTimeout(() => setDone(false), SAID_MS);
        });
      }}
    >
      {done ? "✓" : <Icon name="copy" />}
    </button>
  );
}

export function openEditor(file: string, line: number): void {
  const { server } = data();
  if (!server) {
    void copyText(`${file}:${line}`, "The place");
    return;
  }
  server.open(file, line).then(
    () => announce(`${baseName(file)}:${line} opened in the editor`),
    (thrown: unknown) => reportProblem(asProblem(thrown, `${file}:${line}`)),
  );
}

interface PlaceProps {
  file: string;
  line: number;
  /** The call on that line, where one is known. */
  call?: string;
  /** In a line of a list: the list has the focus, not each of its lines. */
  inList?: boolean;
}

/** "symbolic.py:214": opens the editor; in an exported file it copies the place. */
export function Place({ file, line, call, inList = false }: PlaceProps) {
  if (!file) return <span class="t3">unknown</span>;
  const live = data().server !== null;
  const link = (
    <button
      type="button"
      class="link mono el"
      tabIndex={inList ? -1 : undefined}
      title={`${live ? "Open in the editor" : "Copy"}: ${short(file, 1000)}:${line}. Shift: the recorded text`}
      onClick={(e) => (e.shiftKey ? showRecorded(file, line) : openEditor(file, line))}
    >
      {short(baseName(file))}:{line}
    </button>
  );
  if (!call) return link;
  return (
    <span class="row g4">
      {link}
      <span class="mono el" title={short(call, 1000)}>
        {short(call)}
      </span>
    </span>
  );
}
