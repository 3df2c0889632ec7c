/** What the kinds of answers are called. Pure. */
import type { WhyKind } from "../../../../data/messages/rule";
import { capital } from "../../../../state/format";

/** The answer in a few words; the sentence of the trace follows. */
export const TITLES: Readonly<Record<WhyKind, string>> = {
  fired: "It did fire",
  pattern: "The pattern does not fit",
  declined: "Its function declined",
  raised: "Its function failed",
  overtaken: "Another rule came first",
  "not in pass": "Not a rule of this pass",
  "not there": "The node is not in this pass",
  "not reached": "The pass did not come to this node",
  unknown: "The trace does not say",
};

/** What the step beside an answer did. */
export const EVENT_TITLES: Readonly<Record<WhyKind, string>> = {
  fired: "The match",
  pattern: "What fired here instead",
  declined: "What fired here instead",
  raised: "The step",
  overtaken: "The rule that came first",
  "not in pass": "The step",
  "not there": "Where it was made or replaced",
  "not reached": "What replaced it",
  unknown: "The step",
};

/** A sentence begins with a capital, and ends in a full stop. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  // a name of a rule or node stays as it is written
  const first = trimmed.split(" ", 1)[0]!;
  const begun = COMMON.has(first) ? capital(trimmed) : trimmed;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

const COMMON = new Set(["the", "it", "its", "another", "a", "an", "no", "this"]);
