/** Figures of a variant in words. Pure. */
import type { VariantRow } from "../../data/messages/trials/whatif";
import { count, micros, plural } from "../../state/format";

type Times = NonNullable<VariantRow["times"]>;

/** New time over old: "1.28× slower"; where 1 lies in the interval, there is no difference to speak of. */
export function againstOld(times: Times | null): {
  text: string;
  is: "faster" | "slower" | "same";
} {
  if (!times) return { text: "", is: "same" };
  const { ratio, low, high } = times;
  if (low <= 1 && high >= 1) return { text: "same time", is: "same" };
  return ratio > 1
    ? { text: `${ratio.toFixed(2)}× slower`, is: "slower" }
    : { text: `${(1 / Math.max(ratio, 1e-9)).toFixed(2)}× faster`, is: "faster" };
}

/** Where the ratio comes from, for a title. */
export const intervalOf = ({ ratio, low, high, old, new: now, turns }: Times): string =>
  `New over old: ${ratio.toFixed(3)}, with 95 % confidence between ${low.toFixed(3)} and ` +
  `${high.toFixed(3)}; ${micros(old)} before, ${micros(now)} now, ${plural(turns, "turn")}`;

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
