import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  figureOf,
  intervalWords,
  rateOf,
  saidOfCounts,
  saidOfTimes,
  saidOnce,
} from "../src/parts/ratio";

const times = (ratio: number, low: number, high: number) => ({ ratio, low, high });

/** The same in tests/viz/test_ratio.py. */
const WORDS: readonly (readonly [number, string, string])[] = [
  [0.001, "0.001×", "1000.0× as fast"],
  [0.2, "0.20×", "5.0× as fast"],
  [0.78, "0.78×", "22% less time"],
  [0.993, "0.99×", "0.7% less time"],
  [1.0, "1.00×", "same time"],
  [1.4, "1.40×", "40% more time"],
  [2.13, "2.13×", "2.1× the time"],
  [1234.4, "1,234×", "1234.4× the time"],
];

describe("a ratio of times", () => {
  it("is said in words, with its interval", () => {
    for (const [ratio, figure, words] of WORDS) {
      expect(saidOnce(ratio)).toEqual({ figure, words, tint: "" });
      if (ratio !== 1) expect(saidOfTimes(times(ratio, ratio, ratio), true).words).toBe(words);
    }
    expect(intervalWords(times(0.78, 0.75, 0.814))).toBe("0.75 – 0.81");
  });

  it("is coloured where 1 lies outside of its interval and both compute the same", () => {
    const faster = times(0.78, 0.75, 0.81);
    const slower = times(1.28, 1.2, 1.3);
    expect(saidOfTimes(faster, true).tint).toBe("cadd");
    expect(saidOfTimes(slower, true).tint).toBe("cmov");
    expect(saidOfTimes(faster, false).tint).toBe("");
    const unclear = saidOfTimes(times(0.62, 0.3, 1.1), true);
    expect(unclear).toEqual({ figure: "0.62×", words: "no clear difference", tint: "" });
  });

  it("is the inverse of what is done in a unit of time", () => {
    for (const ratio of [0.2, 0.96, 1, 3]) expect(rateOf(times(ratio, 0, 9)) * ratio).toBe(1);
    expect(figureOf(rateOf(times(0.8, 0.7, 0.9)))).toBe("1.25×");
  });
});

describe("a ratio of counts", () => {
  it("is exact", () => {
    expect(saidOfCounts(0.5, true)).toEqual({ figure: "0.50×", words: "50% fewer", tint: "cadd" });
    expect(saidOfCounts(2.5, true).words).toBe("2.5× as many");
    expect(saidOfCounts(1.001, true).tint).toBe("cmov");
    expect(saidOfCounts(1, true)).toEqual({ figure: "1.00×", words: "same number", tint: "" });
    expect(saidOfCounts(0.5, false).tint).toBe("");
  });
});

/** A colour that depends on how something was measured, or a wording of its own for that. */
const OWN = [
  /(cadd|cmov|badge).*\b(better|worse|faster|slower|quicker|ratio|verdict)\b/i,
  /\b(better|worse|faster|slower|quicker|ratio)\b.*["'` ](cadd|cmov)["'` ]/i,
  /toFixed\(\d\)\}?(×|% (faster|slower|less|more))/,
];

it("nothing else colours times, or has words for how they compare", () => {
  const src = join(__dirname, "../src");
  const found = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(join("parts", "ratio.ts")))
    .flatMap((name) =>
      readFileSync(join(src, name), "utf8")
        .split("\n")
        .filter((line) => !/^\s*(\*|\/[/*]|import )/.test(line) && OWN.some((own) => own.test(line)))
        .map((line) => `${name}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
