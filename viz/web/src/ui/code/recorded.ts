/**
 * Which recorded text a place lies in: a trace holds the sources of rules and the lines of the user's
 * program that became nodes, no whole files. Pure.
 */
import type { Rule } from "../../data/messages/rule";
import type { UserFile } from "../../data/messages/run";

/** A part of a file as it was when the program ran. */
export interface RecordedText {
  text: string;
  /** Number of its first line in the file. */
  first: number;
  /** What it is the text of. */
  what: string;
}

/** The recorded source that has this line; null for none. */
export function recordedText(
  rules: Iterable<Rule>,
  file: string,
  line: number,
  files: readonly UserFile[] = [],
): RecordedText | null {
  for (const rule of rules) {
    if (rule.file !== file || !rule.source || line < rule.sourceLine) continue;
    if (line < rule.sourceLine + rule.source.replace(/\n$/, "").split("\n").length)
      return { text: rule.source, first: rule.sourceLine, what: `rule ${rule.name}` };
  }
  for (const own of files) {
    const part = own.parts.find(
      ({ first, lines }) => own.file === file && line >= first && line < first + lines.length,
    );
    if (part) {
      return { text: part.lines.join("\n"), first: part.first, what: "your program" };
    }
  }
  return null;
}
