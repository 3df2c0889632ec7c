import { describe, expect, it, vi } from "vitest";
import type { LineState, ScopePair } from "../src/data/messages/compare";
import type { Artifact } from "../src/data/messages/kernel";
import { Query } from "../src/state/link/query";
import {
  change,
  columnsOf,
  matches,
  ratioText,
  registersOf,
  timesOf,
} from "../src/panels/compare/overview/figures";
import {
  differences,
  type LineRow,
  linesOfSide,
  merged,
  rowsOfSide,
  rowsOfTexts,
  tally,
  unified,
} from "../src/panels/compare/data/merged";
import { lineIndex, sameOrigin } from "../src/parts/kernel/lines";

// jsdom is not needed: nothing here draws. The theme asks for the system's colours when it loads.
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));

const scope = (more: Partial<ScopePair> = {}): ScopePair => ({
  ...{ a: 1, b: 2, kind: "kernel", state: "changed", call: "conv2d, relu", by: "structure" },
  name: { a: "r_64", b: "r_32" },
  ...{ steps: { a: 463, b: 427 }, nodes: { a: 9, b: 9 }, launches: { a: 1, b: 1 } },
  ...{ us: { a: null, b: null }, bytes: { a: null, b: null }, lines: { a: 20, b: 18 } },
  ...{ registers: [], first: null },
  ...more,
});

describe("figures of two runs", () => {
  it("say one figure for both where they are the same", () => {
    expect(change({ a: 463, b: 427 })).toBe("463 → 427");
    expect(change({ a: 1200, b: 1200 })).toBe("1,200");
    expect(change({ a: null, b: 7 })).toBe("– → 7");
    expect(change({ a: null, b: null })).toBe("");
    expect(change({ a: 12.6, b: 9.8 }, "us")).toBe("12.6 µs → 9.80 µs");
  });

  it("are ratios of B to A, and none where A has nothing", () => {
    expect(ratioText({ a: 12.6, b: 9.8 })).toBe("0.78×");
    expect(ratioText({ a: 4, b: 4 })).toBe("same");
    expect(ratioText({ a: 0, b: 4 })).toBe("");
    expect(ratioText({ a: null, b: 4 })).toBe("");
    expect(ratioText({ a: 1, b: 1_000_000 })).toBe("1,000,000×");
  });

  it("are times that are coloured where enough launches tell them apart", () => {
    const timed = (ratio: ScopePair["us"]["ratio"]) =>
      timesOf(scope({ us: { a: 4.2, b: 2.36, ...(ratio === undefined ? {} : { ratio }) } }));
    const once = { figure: "0.56×", words: "44% less time", tint: "" };
    expect(timed(null)).toEqual(once);
    expect(timed(undefined)).toEqual(once); // of an older file
    expect(timed({ ratio: 0.56, low: 0.5, high: 0.6, n: 40 })).toEqual({ ...once, tint: "cadd" });
    expect(timed({ ratio: 0.56, low: 0.5, high: 1.1, n: 40 })?.tint).toBe("");
    expect(timesOf(scope())).toBeNull();
  });

  it("have columns where a side says something", () => {
    expect(columnsOf([scope()]).map((c) => c.key)).toEqual(["name", "steps", "nodes", "lines"]);
    const timed = scope({ us: { a: 3, b: null }, registers: [{ target: "sm_90", a: 40, b: 32 }] });
    expect(columnsOf([timed]).map((c) => c.key)).toContain("time");
    expect(registersOf(timed)).toEqual({ a: 40, b: 32 });
  });

  it("are found by either name and by call", () => {
    for (const query of ["R_64", "r_32", "conv", " "]) expect(matches(scope(), query)).toBe(true);
    expect(matches(scope(), "softmax")).toBe(false);
    expect(matches(scope({ name: { a: null, b: null }, call: "" }), "x")).toBe(false);
  });
});

const rows = (states: readonly LineState[]): LineRow[] =>
  states.map((state, i) => ({
    a: state === "added" ? 0 : i + 1,
    b: state === "removed" ? 0 : i + 1,
    state,
  }));
const text = (...lines: string[]): Artifact => ({
  ...{ kind: "ptx", target: "sm_90", title: "", language: "ptx", facts: [], error: null },
  text: lines.join("\n"),
  lines: lines.map((_, at) => [at]),
  origins: lines.map((_, at) => [10 + at]),
});

describe("two texts", () => {
  it("have the old lines of a stretch before the new ones in one column, and lose none", () => {
    const column = unified(rows(["same", "changed", "changed", "removed", "added", "same"]));
    expect(column.map((row) => [row.a, row.b, row.state])).toEqual([
      [1, 1, "same"],
      [2, 0, "removed"],
      [3, 0, "removed"],
      [4, 0, "removed"],
      [0, 2, "added"],
      [0, 3, "added"],
      [0, 5, "added"],
      [6, 6, "same"],
    ]);
  });

  it("are counted by what became of their lines", () => {
    const n = tally(rows(["same", "moved", "moved", "added"]));
    expect(n).toEqual({ same: 1, renamed: 0, moved: 2, changed: 0, removed: 0, added: 1 });
  });

  const both = { a: { artifact: text("x", "shl", "z") }, b: { artifact: text("x", "mul", "z") } };
  const states = rows(["same", "changed", "renamed"]);
  const name = { kind: "ptx", target: "sm_90" };

  it("are one text with signs, whose numbers are those of its own side", () => {
    const one = merged(states, both, name, null);
    expect(one.artifact.text).toBe("x\nshl\nmul\nz");
    expect(one.signs).toEqual(["", "−", "+", "≈"]);
    expect(one.numbers).toEqual(["1", "− 2", "+ 2", "≈ 3"]);
    expect(differences(one)).toEqual([1]);
    const a = merged(states, both, name, "a");
    expect([a.artifact.text, a.signs]).toEqual(["x\nshl\nz", ["", "−", "≈"]]);
  });

  it("come from the nodes of both where both have the line, whatever their numbers are", () => {
    const one = merged(states, both, name, null);
    const other = merged(states, both, { kind: "amd_isa", target: "gfx942" }, "b");
    const lit = (line: number) => sameOrigin(one.artifact, line, lineIndex(other.artifact)).lines;
    expect(one.artifact.origins.map((ids) => ids.length)).toEqual([2, 1, 1, 2]);
    expect([lit(0), lit(2), lit(3)]).toEqual([[0], [1], [2]]);
    expect(linesOfSide(one, "b", { lines: [1, 2], cut: 0 }).lines).toEqual([2, 3]);
  });

  it("of one side alone are all removed, or all added", () => {
    const a = merged(rowsOfSide("a", both.a.artifact), { a: both.a, b: null }, name, null);
    expect(a.signs).toEqual(["−", "−", "−"]);
    expect(rowsOfTexts("x\ny", "x\nz").map(({ state }) => state)).toEqual([
      "same",
      "removed",
      "added",
    ]);
  });
});

describe("the link of a comparison", () => {
  it("holds all that is looked at, and is short for what is usual", async () => {
    const { compareLink, numbersOf } = await import("../src/panels/compare/data/link");
    const written = (): string => {
      const fields = new URLSearchParams();
      compareLink.write((key, value) => {
        if (value !== null && value !== false && value !== "") fields.set(key, String(value));
      });
      return fields.toString();
    };
    expect(written()).toBe("");
    const full =
      "ca=C&cb=D&ct=rules&cd=all&co=-time&cq=%3Cb%3E&cs=3.4&ck=python%3A%7Cptx%3Asm_90&cu=0&cp=12.0&cr=7&cz=4.9&cm=1&cg=all&cn=5&cx=1";
    compareLink.read(new Query(`#${full}`));
    expect(written()).toBe(full);
    expect(numbersOf(compareLink.peek().walk!)).toEqual([12, 0]);
  });

  it("takes nothing from a stranger that it could not have written", async () => {
    const { compareLink } = await import("../src/panels/compare/data/link");
    compareLink.read(
      new Query("#ca=AA&cb=<b>&ct=all&co=--x&cs=1&cp=1.2.3&cr=-1&cz=a.b&cq=" + "x".repeat(999)),
    );
    expect(compareLink.peek()).toMatchObject({
      ...{
        a: "A",
        b: "B",
        tab: "kernels",
        order: "",
        scope: null,
        walk: null,
        row: null,
        states: null,
      },
      query: "x".repeat(200),
    });
  });
});
