/** Figures of the workbench as they read. Pure. */
import type { BenchInput, Numeric, Workbench } from "../../../data/messages/trials/workbench";
import { type Said, saidOfCounts, saidOfTimes } from "../../../parts/ratio";
import { count, plural, tiny } from "../../../state/format";

/** Edited over original: of times, or else of instructions that were counted; null where neither is. */
export function saidOf(found: Workbench): Said | null {
  const equal = found.inputs.every((input) => verdict(input) !== false);
  if (found.times) return saidOfTimes(found.times, equal);
  const [a, b] = [found.original.instructions, found.edited.instructions];
  return a !== null && b !== null && a > 0 ? saidOfCounts(b / a, equal) : null;
}

/** Whether the edited kernel is as right as the original on an input; null where it was not run. */
export function verdict(input: BenchInput): boolean | null {
  if (input.same === null) return null;
  if (input.edited === false && input.original !== false) return false;
  return input.same || input.edited === true;
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
