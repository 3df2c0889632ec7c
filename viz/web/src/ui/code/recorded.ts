/** Which recorded text a place lies in: a trace holds the sources of rules, no files. Pure. */
import type { Rule } from "../../data/types";

/** The rule whose recorded source has this line; null for none. */
export function recordedText(rules: Iterable<Rule>, file: string, line: number): Rule | null {
  for (const rule of rules) {
    if (rule.file !== file || !rule.source || line < rule.sourceLine) continue;
    if (line < rule.sourceLine + rule.source.replace(/\n$/, "").split("\n").length) return rule;
  }
  return null;
}
