/** A short text as numbered, lightly coloured lines. For long texts use the source columns. */
import { useState } from "preact/hooks";
import { clip, plural } from "../app/format";
import { pieces, startState, type TokenKind } from "../panels/sources/languages";

const CLASSES: Record<Exclude<TokenKind, null>, string> = {
  keyword: "k",
  number: "nn",
  comment: "cm",
  string: "cm",
  label: "b",
};

interface CodeLinesProps {
  text: string;
  language: string;
  /** Number of the first line, and the line to mark. */
  from: number;
  marked?: number;
}

const LONGEST_LINE = 2000;
const MOST_LINES = 400;

export function CodeLines({ text, language, from, marked }: CodeLinesProps) {
  const [all, showAll] = useState(false);
  const state = startState();
  const every = text.replace(/\n$/, "").split("\n");
  const lines = all ? every : every.slice(0, MOST_LINES);
  return (
    <div class="code">
      {lines.map((line, i) => (
        <div class={from + i === marked ? "ln hl" : "ln"} key={i}>
          <i>{from + i}</i>
          <span>
            {pieces(language, clip(line, LONGEST_LINE).text, state).map((p, j) => (
              <span key={j} class={p.kind ? CLASSES[p.kind] : undefined}>
                {p.text}
              </span>
            ))}
            {line.length > LONGEST_LINE && <span class="t3"> … line clipped</span>}
          </span>
        </div>
      ))}
      {lines.length < every.length && (
        <button type="button" class="link" onClick={() => showAll(true)}>
          {plural(every.length - lines.length, "more line")}
        </button>
      )}
    </div>
  );
}
