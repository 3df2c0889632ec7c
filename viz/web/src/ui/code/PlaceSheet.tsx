/** A place in a file: the text that the trace holds of it, whatever the file says today, or why none. */
import { signal } from "@preact/signals";
import { CodeLines } from "./CodeLines";
import { CopyButton } from "./copy";
import { Sheet } from "../over/Sheet";
import { short } from "../../state/format";
import { saidOf } from "./since";
import { recordedText } from "./recorded";
import { overlay, rules, runKey } from "../../state/state";
import type { ApiProblem } from "../../data/messages/job";
import type { UserFile } from "../../data/messages/run";
import { data, reportProblem } from "../../state/actions";
import { asProblem } from "../../data/backend";

/** `why`: what kept the editor from opening; null where nobody asked for one. */
const shown = signal<{ file: string; line: number; why: ApiProblem | null } | null>(null);

/** Shows the recorded text of a place, or says that there is none. */
export function showPlace(file: string, line: number, why: ApiProblem | null = null): void {
  shown.value = { file, line, why };
  overlay.value = "place";
  if (recordedText(rules.peek().values(), file, line)) return;
  const mine = runKey.peek();
  void data()
    .userLines()
    .then(
      (found) => {
        if (runKey.peek() === mine) userFiles.value = found;
      },
      (thrown: unknown) => reportProblem(asProblem(thrown, "api/user-lines")),
    );
}

/** The lines of the user's program; asked for where no rule has the place. */
const userFiles = signal<readonly UserFile[]>([]);

export function PlaceSheet() {
  if (!shown.value) return null;
  const { file, line, why } = shown.value;
  const found = recordedText(rules.value.values(), file, line, userFiles.value);
  const said = saidOf([file]);
  const path = line > 0 ? `${file}:${line}` : file;
  return (
    <Sheet label="Place in a file" class="place">
      <div class="ph">
        <b class="mono el" title={path}>
          {short(path, 200)}
        </b>
        <CopyButton text={path} what="path" />
        <span class="sp" />
        {found && <span class="t3 nw">as recorded, {short(found.what, 80)}</span>}
        {said && <span class="badge mov nw">◆ {said}</span>}
      </div>
      {why && (
        <p class="t2 said">
          The editor was not opened: {why.what}. {why.hint}
        </p>
      )}
      {found ? (
        <div class="recorded" tabIndex={0} role="region" aria-label="Text">
          <CodeLines text={found.text} language="python" from={found.first} marked={line} />
        </div>
      ) : (
        <p class="t2 said">
          The trace does not contain the text of this line. It records the source of rules and the
          lines of the program that created nodes.
        </p>
      )}
    </Sheet>
  );
}
