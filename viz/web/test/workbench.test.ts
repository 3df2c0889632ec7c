import { describe, expect, it } from "vitest";
import type { BenchInput } from "../src/data/messages/trials/workbench";
import { partsOf, questionOf, rowsOf } from "../src/panels/workbench/change/list";
import { workbenchLink } from "../src/panels/workbench/data/link";
import { nearest } from "../src/panels/workbench/result/nearest";
import { equalWords, inputWord } from "../src/panels/workbench/result/words";
import { hashOf, Query } from "../src/state/link/query";

const OPTS = "TC(0, (-1, 2, 1)) UPCAST(0, 4) NOLOCALS(None, None) PADTO(1, 32)";

describe("the optimizations of the workbench", () => {
  it("come apart as they were written", () => {
    const parts = ["TC(0, (-1, 2, 1))", "UPCAST(0, 4)", "NOLOCALS(None, None)", "PADTO(1, 32)"];
    expect(partsOf(OPTS)).toEqual(parts);
    expect(partsOf("NOLOCALS(None, None)")).toEqual(["NOLOCALS(None, None)"]);
    expect(partsOf("")).toEqual([]);
  });

  it("come back from a link", () => {
    for (const opts of [OPTS, "", null]) {
      workbenchLink.with({ opts }).make();
      const hash = hashOf((put) => workbenchLink.write(put));
      workbenchLink.with({ opts: "UNROLL(0, 0)" }).make();
      workbenchLink.read(new Query(hash));
      expect(workbenchLink.value.opts).toBe(opts);
    }
    workbenchLink.read(new Query("#wo=%3Cimg%3E"));
    expect(workbenchLink.value.opts).toBeNull();
  });

  it("are asked for anew when the last one is taken out", () => {
    expect(questionOf("kernel", "")).not.toBe(questionOf("kernel", null));
    expect(questionOf("kernel", "")).toBe(questionOf("kernel", ""));
  });

  it("have the reason of their own place", () => {
    const said = [
      { opt: "UPCAST(0, 4)", why: "" },
      { opt: "UPCAST(0, 4)", why: "4 does not divide 1" },
    ];
    const applied = said.map(({ opt }) => opt);
    expect(rowsOf(applied, [], said).map(({ why }) => why)).toEqual(["", "4 does not divide 1"]);
    const other = rowsOf(["UNROLL(0, 0)", "UPCAST(0, 4)"], [], said);
    expect(other.map(({ why }) => why)).toEqual(["", "4 does not divide 1"]);
    expect(rowsOf(["PADTO(0, 2)"], [], said)[0]!.why).toBe("");
  });

  it("stay in the list where they were when they are taken out", () => {
    const rows = rowsOf(["A(0, 1)", "B(0, 1)"], [{ opt: "C(0, 1)", before: 1 }], []);
    expect(rows.map(({ opt, on, at }) => [opt, on, at])).toEqual([
      ["A(0, 1)", true, 0],
      ["C(0, 1)", false, -1],
      ["B(0, 1)", true, 1],
    ]);
  });
});

describe("a click in the picture of the error", () => {
  it("means the nearest cell as it is drawn, whatever the table's shape", () => {
    const square = { width: 4, height: 4 };
    expect(nearest([0, 12], square, 0, 2.8)).toBe(12);
    expect(nearest([3, 12], square, 0, 2)).toBe(12);
    // 64 x 2 cells: a row is half the picture high, a column a 64th of it wide
    const wide = { width: 64, height: 2 };
    expect(nearest([20, 85], wide, 20.6, 0.2)).toBe(20);
    expect(nearest([20, 85], wide, 20.6, 0.8)).toBe(85);
    expect(nearest([0, 84], wide, 0, 0.9)).toBe(84);
    expect(nearest([], square, 0, 0)).toBeNull();
  });
});

describe("how far two outputs are apart", () => {
  const input = (more: Partial<BenchInput>): BenchInput => ({
    kind: "normal",
    title: "Normal",
    same: true,
    original: null,
    edited: null,
    ulps: null,
    error: 0,
    why: "",
    ...more,
  });

  it("is said of integers, too", () => {
    expect(inputWord(input({ same: false, error: 3 }))).toBe("3 apart");
    expect(inputWord(input({}))).toBe("same");
    expect(equalWords(input({}))).toBe("identical");
  });

  it("is said of floating-point numbers", () => {
    expect(inputWord(input({ ulps: 1200, error: 0.1 }))).toBe("1,200");
    expect(inputWord(input({ same: false, error: "inf" }))).toBe("not a number");
    expect(inputWord(input({ same: null }))).toBe("not run");
    expect(equalWords(input({ ulps: 0 }))).toBe("identical");
    expect(equalWords(input({ ulps: 2, error: 1e-7 }))).toBe("equal within 2 ulp");
    expect(equalWords(input({ error: 1e-7 }))).toBe("equal within tolerance");
  });
});
