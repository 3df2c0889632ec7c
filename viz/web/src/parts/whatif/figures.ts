/** Figures of a variant, and what came of it, in words. Pure. */
import type { Times } from "../../data/messages/compare";
import type { TriedVariant, VariantRow } from "../../data/messages/trials/whatif";
import { figureOf, intervalWords } from "../ratio";
import { count, micros, plural } from "../../state/format";

/** Where the ratio comes from, for a title. */
export const intervalOf = ({ ratio, low, high, old, new: now, turns }: Times): string =>
  `${figureOf(ratio)}, 95% interval ${intervalWords({ ratio, low, high })}; ${micros(old)} before, ${micros(now)} now, ${plural(turns, "turn")}`;

/** "24 → 32", "32" where the old one is not known, "" where neither is. */
export function amounts(
  { code, oldCode }: VariantRow,
  name: "registers" | "instructions",
): string {
  const now = code?.[name] ?? null;
  const old = oldCode?.[name] ?? null;
  if (now === null) return "";
  return old === null || old === now ? count(now) : `${count(old)} → ${count(now)}`;
}

/** What came of a kernel that was compiled otherwise, in one sentence. */
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
