/** An edited text against the compiler's: changed lines with a few around them. */
import { useMemo } from "preact/hooks";
import { clip, count, plural } from "../../state/format";
import { lineDiff, type Line } from "./lineDiff";
import type { Edit } from "../run/edits";

const CONTEXT = 3;
const LONGEST_LINE = 2000;
const MOST_LINES = 2000;

export function DiffPane({ edit: { base, text } }: { edit: Pick<Edit, "base" | "text"> }) {
  const lines = useMemo(() => lineDiff(base, text), [base, text]);
  const added = lines.filter((line) => line.kind === "add").length;
  const removed = lines.filter((line) => line.kind === "del").length;
  return (
    <section class="col diff" aria-label="Changes to the compiler's text">
      <div class="ch">
        <span>Changes</span>
        <span class="t3 num">
          {added + removed ? `${plural(added, "line")} added, ${count(removed)} removed` : ""}
        </span>
      </div>
      {added + removed ? (
        <div class="pane code" tabIndex={0} role="region" aria-label="Changed lines">
          {hunks(lines)
            .slice(0, MOST_LINES)
            .map((shown, i) =>
              typeof shown === "number" ? (
                <div class="ln t3" key={i}>
                  <i />
                  <i />
                  <span class="sg">⋮</span>
                  <span>{plural(shown, "unchanged line")}</span>
                </div>
              ) : (
                <div class={{ same: "ln", del: "ln dd", add: "ln da" }[shown.kind]} key={i}>
                  <i>{shown.old || ""}</i>
                  <i>{shown.now || ""}</i>
                  <span class="sg">{{ same: "", del: "−", add: "+" }[shown.kind]}</span>
                  <span>{clip(shown.text, LONGEST_LINE).text}</span>
                </div>
              ),
            )}
        </div>
      ) : (
        <div class="state">No changes: this is the compiler's text.</div>
      )}
    </section>
  );
}

/** Changed lines and those around them; a number stands for so many unchanged ones. */
export function hunks(lines: readonly Line[]): (Line | number)[] {
  const keep = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.kind !== "same") keep.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  const out: (Line | number)[] = [];
  lines.forEach((line, i) => {
    const last = out.at(-1);
    if (keep[i]) out.push(line);
    else if (typeof last === "number") out[out.length - 1] = last + 1;
    else out.push(1);
  });
  return out;
}
