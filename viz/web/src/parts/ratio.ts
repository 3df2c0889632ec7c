/**
 * New over old, of times or of counts, as it reads and is coloured everywhere: the only module that
 * colours a time. The terminal has the same words (viz/ratio.py). Pure.
 *
 * A time is coloured where repeated measurements leave 1 out of the interval of its ratio, and both sides
 * compute the same. What was measured once is never coloured; what is counted is exact.
 */
import type { Interval } from "../data/messages/compare";

/** How a ratio reads. */
export interface Said {
  /** "0.78×" */
  figure: string;
  /** "22% less time" */
  words: string;
  /** The class of its colour; "" for none. */
  tint: "" | "cadd" | "cmov";
}

/** Of times that were measured repeatedly; `equal`: whether both sides compute the same. */
export function saidOfTimes(times: Interval, equal: boolean): Said {
  const { ratio, low, high } = times;
  const isClear = low > 1 || high < 1;
  return {
    figure: figureOf(ratio),
    words: isClear ? timeWords(ratio) : "no clear difference",
    tint: equal && isClear ? tintOf(ratio) : "",
  };
}

/** Of times that were measured once on either side, or one side after the other. */
export const saidOnce = (ratio: number): Said => ({
  ...{ figure: figureOf(ratio), words: timeWords(ratio), tint: "" },
});

/** Of what is counted, such as instructions, of which fewer are better. */
export function saidOfCounts(ratio: number, equal: boolean): Said {
  const tint = equal && ratio !== 1 ? tintOf(ratio) : "";
  return { figure: figureOf(ratio), words: countWords(ratio), tint };
}

/** What is done in a unit of time, edited over original: the inverse of the ratio of times. */
export const rateOf = ({ ratio }: Interval): number => 1 / ratio;

const tintOf = (ratio: number): "cadd" | "cmov" => (ratio < 1 ? "cadd" : "cmov");

/** "0.78×" */
export function figureOf(ratio: number): string {
  if (ratio >= 10) return `${Math.round(ratio).toLocaleString("en")}×`;
  return `${ratio >= 0.1 ? ratio.toFixed(2) : Number(ratio.toPrecision(2))}×`;
}

/** "22% less time", "40% more time", "5.0× as fast", "2.1× the time" */
function timeWords(ratio: number): string {
  if (Math.abs(ratio - 1) < 0.005) return "same time";
  if (ratio <= 0.5) return ratio > 0 ? `${(1 / ratio).toFixed(1)}× as fast` : "no time";
  if (ratio < 2) return `${percent(ratio)} ${ratio < 1 ? "less" : "more"} time`;
  return `${ratio.toFixed(1)}× the time`;
}

/** "22% fewer", "40% more", "2.1× as many" */
function countWords(ratio: number): string {
  if (Math.abs(ratio - 1) < 0.0005) return "same number";
  if (ratio < 2) return `${percent(ratio)} ${ratio < 1 ? "fewer" : "more"}`;
  return `${ratio.toFixed(1)}× as many`;
}

function percent(ratio: number): string {
  const apart = Math.abs(ratio - 1);
  return `${(100 * apart).toFixed(apart >= 0.01 ? 0 : 1)}%`;
}

/** "0.75 – 0.81" */
export const intervalWords = ({ low, high }: Interval): string =>
  [low, high].map((end) => figureOf(end).replace("×", "")).join(" – ");
