/** Shift-click on a place: the text that the trace holds of it, whatever the file says today. */
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { CodeLines } from "./CodeLines";
import { useModal } from "../useModal";
import { announce } from "../../state/actions";
import { baseName, short } from "../../state/format";
import { recordedText } from "./recorded";
import { overlay, rules } from "../../state/state";

const shownPlace = signal<{ file: string; line: number } | null>(null);

/** Shows the recorded text of a place, or says that there is none. */
export function showRecorded(file: string, line: number): void {
  if (!recordedText(rules.peek().values(), file, line)) {
    announce(`The trace holds no text of ${baseName(file)}:${line}`);
    return;
  }
  shownPlace.value = { file, line };
  overlay.value = "recorded";
}

export function RecordedText() {
  const box = useRef<HTMLDivElement>(null);
  const keepInside = useModal(box);
  const at = shownPlace.value;
  const found = at && recordedText(rules.value.values(), at.file, at.line);
  if (!found) return null;
  return (
    <>
      <div class="scrim" onClick={() => (overlay.value = null)} />
      <div
        class="palette sheet"
        role="dialog"
        aria-label="Recorded text"
        aria-modal="true"
        tabIndex={-1}
        ref={box}
        onKeyDown={keepInside}
      >
        <div class="ph">
          <b class="mono el">
            {short(at.file, 200)}:{at.line}
          </b>
          <span class="t3">as recorded with the trace, rule {short(found.name)}</span>
        </div>
        <div class="recorded" tabIndex={0} role="region" aria-label="Text">
          <CodeLines
            text={found.source}
            language="python"
            from={found.sourceLine}
            marked={at.line}
          />
        </div>
        <div class="foot">
          <span class="sp" />
          <kbd>Esc</kbd> closes
        </div>
      </div>
    </>
  );
}
