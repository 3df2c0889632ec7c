/** New over old, of times or of instructions, as it reads everywhere. Pure. */
import type { Times } from "../data/messages/trials/times";

/** Ratios that differ from 1 by less are the same: timing is not better than that. */
const SAME = 0.01;

export type Better = "better" | "worse" | "same";
/** The class of each. */
export const TINTS: Readonly<Record<Better, string>> = { better: "cadd", worse: "cmov", same: "" };

/** Whether the interval of a ratio says no difference. */
export const isNoise = (times: Times | null): boolean =>
  times !== null && times.low <= 1 && times.high >= 1;

/** "0.78×"; less is better, where nothing else is said. */
export function timesWord(ratio: number, less = true): { text: string; is: Better } {
  const text = `${ratio >= 100 ? Math.round(ratio) : ratio.toFixed(2)}×`;
  if (Math.abs(ratio - 1) < SAME) return { text, is: "same" };
  return { text, is: ratio < 1 === less ? "better" : "worse" };
}

/** "22% faster", "40% slower", "2.1× the time"; `what`: of times or of instructions. */
export function changeWord(ratio: number, what: "time" | "instructions"): string {
  const [better, worse] = what === "time" ? ["faster", "slower"] : ["fewer", "more"];
  if (Math.abs(ratio - 1) < 0.005) return what === "time" ? "same time" : "same number";
  if (ratio < 1) return `${((1 - ratio) * 100).toFixed(ratio > 0.99 ? 1 : 0)}% ${better}`;
  if (ratio < 2) return `${((ratio - 1) * 100).toFixed(ratio < 1.01 ? 1 : 0)}% ${worse}`;
  return `${ratio.toFixed(1)}× ${what === "time" ? "the time" : "as many"}`;
}

/** "22% faster", or that there is no clear difference. */
export const timeWord = (times: Times): string =>
  isNoise(times) ? "no clear difference" : changeWord(times.ratio, "time");

/** "0.75 – 0.81" */
export const intervalWord = ({ low, high }: Times): string =>
  `${low.toFixed(2)} – ${high.toFixed(2)}`;
