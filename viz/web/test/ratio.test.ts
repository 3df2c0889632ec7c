import { describe, expect, it } from "vitest";
import type { Times } from "../src/data/messages/trials/times";
import { changeWord, intervalWord, isNoise, timesWord, timeWord } from "../src/parts/ratio";

const times = (ratio: number, low: number, high: number): Times => ({
  ratio,
  low,
  high,
  old: 10,
  new: 10 * ratio,
  turns: 9,
});

describe("a ratio of times", () => {
  it("is no difference where 1 lies in its interval", () => {
    expect(isNoise(times(0.9, 0.8, 1.1))).toBe(true);
    expect(timeWord(times(0.9, 0.8, 1.1))).toBe("no clear difference");
    expect(isNoise(times(0.78, 0.75, 0.81))).toBe(false);
    expect(isNoise(null)).toBe(false);
  });

  it("is said in words, with its interval", () => {
    expect(timeWord(times(0.78, 0.75, 0.814))).toBe("22% faster");
    expect(timeWord(times(1.4, 1.3, 1.5))).toBe("40% slower");
    expect(timeWord(times(2.13, 2, 2.2))).toBe("2.1× the time");
    expect(intervalWord(times(0.78, 0.75, 0.814))).toBe("0.75 – 0.81");
    expect(changeWord(0.5, "instructions")).toBe("50% fewer");
  });

  it("is better or worse, by what it is of", () => {
    expect(timesWord(0.78)).toEqual({ text: "0.78×", is: "better" });
    expect(timesWord(1.28, false)).toEqual({ text: "1.28×", is: "better" });
    expect(timesWord(1.28)).toEqual({ text: "1.28×", is: "worse" });
    expect(timesWord(1.004).is).toBe("same");
    expect(timesWord(250.4).text).toBe("250×");
  });
});
