/** Texts of a trace: always text nodes, clipped when huge, places as links to the editor. */
import { useState } from "preact/hooks";
import { announce, data } from "../../state/actions";
import { baseName, clip, count, short } from "../../state/format";
import { saidOf } from "./since";
import { showPlace } from "./PlaceSheet";
import { asProblem } from "../../data/backend";

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

/** Opens a place in the user's editor; where that cannot be, shows what the trace holds of it. */
export function openEditor(file: string, line: number): void {
  const { server } = data();
  if (!server) {
    showPlace(file, line);
    return;
  }
  server.open(file, line).then(
    () => {
      const said = saidOf([file]);
      const where = `${baseName(file)}:${line} opened in the editor`;
      announce(said ? `${where}. The ${said} the run: the line may be another one` : where);
    },
    (thrown: unknown) => showPlace(file, line, asProblem(thrown, `${file}:${line}`)),
  );
}

interface PlaceProps {
  file: string;
  line: number;
  /** The call on that line, where one is known. */
  call?: string;
  /** Where the line is today, for the editor; as recorded if left out. */
  today?: number;
  /** In a line of a list: the list has the focus, not each of its lines. */
  inList?: boolean;
}

/** Places one after the other: equal nodes are one, whose lines are all that ask for it. */
export function Places({ all }: { all: readonly PlaceProps[] }) {
  if (all.length === 1) return <Place {...all[0]!} />;
  return (
    <span
      class="row wrap g4"
      title="Each of these lines asks for this node: equal nodes are one, so it stands for all of them"
    >
      {all.map((one, i) => (
        <Place key={i} {...one} />
      ))}
    </span>
  );
}

/** "symbolic.py:214": opens the editor, or shows the recorded text where there is none to open. */
export function Place({ file, line, call, today = line, inList = false }: PlaceProps) {
  if (!file) return <span class="t3">not recorded</span>;
  const live = data().server !== null;
  const link = (
    <button
      type="button"
      class="link mono el place"
      tabIndex={inList ? -1 : undefined}
      title={`${short(file, 1000)}:${line}\n${live ? "Opens in the editor; Shift-click shows the recorded text" : "Shows the recorded text"}`}
      onClick={(e) => (e.shiftKey || !live ? showPlace(file, line) : openEditor(file, today))}
    >
      {short(baseName(file))}:{line}
    </button>
  );
  if (!call) return link;
  return (
    <span class="row g4" title={short(call, 1000)}>
      {link}
      <span class="mono el">{short(call)}</span>
    </span>
  );
}
