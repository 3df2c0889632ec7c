/** A short text as numbered, lightly coloured lines. For long texts use the source columns. */
import { useMemo, useState } from "preact/hooks";
import { clip, plural } from "../../state/format";
import { pieces, startState, type TokenKind } from "./languages";

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
  const every = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  // Coloured once, not at every step: neighbouring steps often show the same rule.
  const lines = useMemo(() => {
    const state = startState();
    return every
      .slice(0, all ? Infinity : MOST_LINES)
      .map((line) => ({ line, parts: pieces(language, clip(line, LONGEST_LINE).text, state) }));
  }, [every, language, all]);
  return (
    <div class="code">
      {lines.map(({ line, parts }, i) => (
        <div class={from + i === marked ? "ln hl" : "ln"} key={i}>
          <i>{from + i}</i>
          <span>
            {parts.map((p, j) => (
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
