/** Figures of the workbench as they read. Pure. */
import type { BenchInput, Numeric, Workbench } from "../../../data/messages/trials/workbench";
import { count, micros, plural, tiny } from "../../../state/format";

/** Ratios that differ from 1 by less are the same: timing is not better than that. */
const SAME = 0.01;

/** Edited over original: of times, or else of instructions that were counted; null where neither is. */
export function ratioOf(found: Workbench): number | null {
  if (found.times) return found.times.ratio;
  const [a, b] = [found.original.instructions, found.edited.instructions];
  return a !== null && b !== null && a > 0 ? b / a : null;
}

/** Whether the interval of a ratio says no difference. */
export const isNoise = (found: Workbench): boolean =>
  found.times !== null && found.times.low <= 1 && found.times.high >= 1;

/** "0.78×"; less is better, where nothing else is said. */
export function timesWord(
  ratio: number,
  less = true,
): { text: string; is: "better" | "worse" | "same" } {
  const text = `${ratio >= 100 ? Math.round(ratio) : ratio.toFixed(2)}×`;
  if (Math.abs(ratio - 1) < SAME) return { text, is: "same" };
  return { text, is: ratio < 1 === less ? "better" : "worse" };
}

/** "22% faster", "1.40× slower"; `what`: of times or of instructions. */
export function changeWord(ratio: number, what: "time" | "instructions"): string {
  const [better, worse] = what === "time" ? ["faster", "slower"] : ["fewer", "more"];
  if (Math.abs(ratio - 1) < 0.005) return what === "time" ? "same time" : "same number";
  if (ratio < 1) return `${((1 - ratio) * 100).toFixed(ratio > 0.99 ? 1 : 0)}% ${better}`;
  if (ratio < 2) return `${((ratio - 1) * 100).toFixed(ratio < 1.01 ? 1 : 0)}% ${worse}`;
  return `${ratio.toFixed(1)}× ${what === "time" ? "the time" : "as many"}`;
}

/** A number, or what stands for one, in nine digits at most. */
export function value(n: Numeric): string {
  if (typeof n === "string") return n === "nan" ? "NaN" : n === "inf" ? "∞" : "−∞";
  return Number.isInteger(n) && Math.abs(n) < 1e9 ? String(n) : String(Number(n.toPrecision(8)));
}

/** "2.4e-7". */
export const errorWord = (n: Numeric): string => (typeof n === "string" ? "infinite" : tiny(n));

/** Both sides on an input, in few words: "2", "3 apart", "not a number". */
export function inputWord({ same, ulps, error }: BenchInput): string {
  if (same === null) return "not run";
  if (ulps !== null) return count(ulps);
  if (typeof error === "string") return "not a number";
  return error === 0 ? "same" : `${errorWord(error)} apart`;
}

/** How far two outputs that agree are apart. */
export function equalWords({ ulps, error }: BenchInput): string {
  if (ulps === 0 || (ulps === null && error === 0)) return "identical";
  return ulps === null ? "equal within tolerance" : `equal within ${plural(ulps, "ulp", "ulp")}`;
}

/** "2 ulp, 2.4e-7". */
export const errorWords = (ulps: number | null, error: Numeric): string =>
  ulps === null ? errorWord(error) : `${ulps.toLocaleString("en")} ulp, ${errorWord(error)}`;

/** The number at the front of a fact, such as the registers of "56". */
export function numberOf(facts: Workbench["original"]["facts"], name: RegExp): number | null {
  const found = facts.find((fact) => name.test(fact.name))?.value;
  const digits = /^[\d,]+(?:\.\d+)?/.exec(found ?? "")?.[0];
  return digits === undefined ? null : Number(digits.replaceAll(",", ""));
}

/** "7.4 – 8.0 µs": the unit once, where both have the same. */
export function rangeWord({ p10, p90 }: { p10: number; p90: number }): string {
  const [low, high] = [micros(p10), micros(p90)];
  const [number = low, unit] = low.split(" ");
  return unit !== undefined && high.endsWith(` ${unit}`)
    ? `${number} – ${high}`
    : `${low} – ${high}`;
}
