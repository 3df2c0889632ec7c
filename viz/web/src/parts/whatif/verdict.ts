/** What came of a kernel that was compiled otherwise, in one sentence. */
import type { TriedVariant } from "../../data/messages/trials/whatif";
import { figureOf, intervalWords } from "../ratio";

export interface Verdict {
  /** The class of the mark; what is wrong is never green. */
  tint: "del" | "plain";
  words: string;
}

export function verdictOf({ error, outcome, times, kept }: TriedVariant): Verdict {
  if (error) return { tint: "del", words: `It does not compile: ${error.what}.` };
  if (!outcome) return { tint: "plain", words: "It compiles, and was not run." };
  if (!outcome.equal)
    return { tint: "del", words: `Its result is wrong: ${outcome.said}.` };
  const took = times
    ? `; it takes ${figureOf(times.ratio)} the time of the recorded kernel, 95% interval ${intervalWords(times)}`
    : "";
  const where = kept ? "" : "; it is not kept";
  return { tint: "plain", words: `Its result is equal${took}${where}.` };
}
