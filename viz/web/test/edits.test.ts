import { describe, expect, it } from "vitest";
import { hunks } from "../src/parts/source/DiffPane";
import { lineDiff } from "../src/parts/source/lineDiff";
import {
  MOST_VERSIONS,
  type Version,
  withinBudget,
  withVersion,
} from "../src/parts/kernel/versions";
import { tiny } from "../src/state/format";

const signs = { same: " ", del: "-", add: "+" };
const shown = (before: string, after: string): string[] =>
  lineDiff(before.split("").join("\n"), after.split("").join("\n")).map(
    (line) => signs[line.kind] + line.text,
  );

describe("the difference of two texts", () => {
  it("is the shortest there is", () => {
    expect(shown("abc", "abc")).toEqual([" a", " b", " c"]);
    expect(shown("abc", "axc")).toEqual([" a", "-b", "+x", " c"]);
    expect(shown("abcabba", "cbabac").filter((line) => line[0] !== " ")).toHaveLength(5);
    expect(shown("ab", "ab12")).toEqual([" a", " b", "+1", "+2"]);
    expect(shown("12ab", "ab")).toEqual(["-1", "-2", " a", " b"]);
  });

  it("rebuilds both texts, whatever they are", () => {
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 300; round++) {
      const text = (): string =>
        Array.from({ length: random(12) }, () => "abc"[random(3)]!).join("\n");
      const [before, after] = [text(), text()];
      const lines = lineDiff(before, after);
      const of = (not: string): string =>
        lines
          .filter((line) => line.kind !== not)
          .map((line) => line.text)
          .join("\n");
      expect(of("add"), `seed 7, round ${round}`).toBe(before);
      expect(of("del"), `seed 7, round ${round}`).toBe(after);
    }
  });

  it("takes texts that differ everywhere as replaced, at once", () => {
    const text = (word: string): string =>
      Array.from({ length: 20_000 }, (_, i) => `${word} ${i}`).join("\n");
    const began = performance.now();
    expect(lineDiff(text("a"), text("b"))).toHaveLength(40_000);
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it("is shown with what is around it", () => {
    const text = (at: number, word: string): string =>
      Array.from({ length: 30 }, (_, i) => (i === at ? word : `line ${i}`)).join("\n");
    const parts = hunks(lineDiff(text(10, "old"), text(10, "new")));
    expect(parts[0]).toBe(7);
    expect(parts.at(-1)).toBe(16);
    expect(parts).toHaveLength(10);
  });
});

describe("versions of an edited text", () => {
  const version = (
    text: string,
    state: Version["state"] = "ran",
    choices: Partial<Version> = {},
  ): Version => ({
    ...{ text, at: 0, state },
    ...{ opts: null, skip: [], ...choices },
  });
  it("keep each text once, and one draft", () => {
    const all = [version("a"), version("b"), version("c", "draft")];
    const made = all.reduce<readonly Version[]>(withVersion, []);
    expect(withVersion(made, version("d", "draft")).map((v) => v.text)).toEqual(["a", "b", "d"]);
    expect(withVersion(made, version("a", "draft")).at(-1)).toEqual(version("a"));
    expect(withVersion(made, version("c", "failed")).at(-1)).toEqual(version("c", "failed"));
  });

  it("are others where the compiler was told something else", () => {
    const of = (choices: Partial<Version>): Version => version("a", "ran", choices);
    const all = [of({}), of({ opts: "" }), of({ opts: "UPCAST(0, 4)" }), of({ skip: ["add_zero"] })];
    const made = [...all, of({ opts: "" })].reduce<readonly Version[]>(withVersion, []);
    expect(made.map(({ opts, skip }) => [opts, skip])).toEqual([
      [null, []],
      ["UPCAST(0, 4)", []],
      [null, ["add_zero"]],
      ["", []],
    ]);
  });

  it("are bounded in number and in size", () => {
    const many = Array.from({ length: 50 }, (_, i) => version(`${i}`));
    expect(many.reduce<readonly Version[]>(withVersion, [])).toHaveLength(MOST_VERSIONS);
    const kept = withinBudget(
      new Map([
        ["old", [version("xxxx"), version("yyyy")]],
        ["new", [version("zzzz")]],
      ]),
      8,
    );
    expect([...kept].map(([name, all]) => [name, all.map((v) => v.text)])).toEqual([
      ["old", ["yyyy"]],
      ["new", ["zzzz"]],
    ]);
  });
});

it("says infinite where a message cannot", () => {
  expect(tiny(1e308)).toBe("infinite");
  expect(tiny(Number.NaN)).toBe("not a number");
});
