import { expect, it } from "vitest";
import { verdictOf } from "../src/parts/whatif/figures";

const times = { ratio: 1.052, low: 1.04, high: 1.06, old: 9, new: 9.5, turns: 9 };
const made = { error: null, outcome: { equal: true, said: "" }, times, kept: { number: 1 } };

it("what came of a variant is one sentence", () => {
  expect(verdictOf(made)).toEqual({
    tint: "plain",
    words: "Its result is equal; it takes 1.05× the time of the recorded kernel, 95% interval 1.04 – 1.06.",
  });
  expect(verdictOf({ ...made, times: null, kept: null }).words).toBe(
    "Its result is equal; it is not kept.",
  );
  expect(verdictOf({ ...made, outcome: null }).words).toBe("It compiles, and was not run.");
});

it("what is wrong is marked as wrong", () => {
  const said = "data0 is off by up to 1, where 0.01 is allowed";
  expect(verdictOf({ ...made, outcome: { equal: false, said } })).toEqual({
    tint: "del",
    words: `Its result is wrong: ${said}.`,
  });
  const error = { what: "pass lower cannot do without it", where: "", hint: "" };
  expect(verdictOf({ ...made, outcome: null, error })).toEqual({
    tint: "del",
    words: "It does not compile: pass lower cannot do without it.",
  });
});
