/** Figures of a variant in words. Pure. */
import type { Times } from "../../data/messages/trials/times";
import type { VariantRow } from "../../data/messages/trials/whatif";
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
