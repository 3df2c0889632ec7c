import { describe, expect, it } from "vitest";
import type { Artifact } from "../src/data/types";
import { chooseColumns, columnKey, possibleColumns, targetOf } from "../src/panels/sources/columns";
import { histogram, quantile } from "../src/panels/sources/histogram";
import { pieces, startState } from "../src/panels/sources/languages";
import { indexLines, linesOf } from "../src/panels/sources/lines";
import { compiled } from "./dev/fixture";
import { AMD, HIP, LLVM, PTX } from "./dev/sources";

const art = (kind: Artifact["kind"], target: string): Artifact => ({
  kind,
  target,
  title: "",
  language: "",
  text: "",
  lines: [],
  origins: [],
  facts: [],
  error: null,
});

describe("columns", () => {
  it("name kind and target, also where the target has a colon", () => {
    expect(targetOf(columnKey(art("ptx", "a:b")))).toBe("a:b");
  });

  it("put recorded sources before what could be compiled", () => {
    const chosen = chooseColumns([art("ptx", "sm_80"), art("llvm", "x86-64")], ["sm_90", "gfx942"]);
    expect(chosen).toEqual(["ptx:sm_80", "amd_isa:gfx942", "hip:gfx942", "llvm:x86-64"]);
    expect(chooseColumns([], [])).toEqual([]);
  });

  it("list a target's artifacts as they are once they are known", () => {
    const keys = possibleColumns(compiled("gfx942"), ["gfx942", "gfx1100"]);
    expect(keys).toContain("hip:gfx1100");
    expect(keys.filter((k) => k.endsWith("gfx942"))).toHaveLength(3);
  });
});

describe("lines of a node", () => {
  const index = indexLines({ lines: [[1], [], [1, 2]], origins: [[9], [9, 9], [8]] });
  it("are its own if there are any, else those of the same origin", () => {
    const origins = new Map([
      [5, [9]],
      [1, [8]],
    ]);
    expect(linesOf(index, origins, 1)).toEqual([0, 2]);
    expect(linesOf(index, origins, 5)).toEqual([0, 1]);
    expect(linesOf(index, origins, 77)).toEqual([]);
    expect(linesOf(index, new Map(), 8)).toEqual([2]);
  });
});

describe("colouring", () => {
  it.each([
    ["ptx", PTX],
    ["amd", AMD],
    ["c", HIP],
    ["llvm", LLVM],
  ])("never loses a character of %s and colours something", (language, text) => {
    const state = startState();
    const kinds = new Set<string | null>();
    for (const line of text.split("\n")) {
      const parts = pieces(language, line, state);
      expect(parts.map((p) => p.text).join("")).toBe(line);
      for (const p of parts) kinds.add(p.kind);
    }
    expect(kinds).toContain("keyword");
    expect(kinds).toContain("number");
  });

  it("carries docstrings and block comments over lines", () => {
    const state = startState();
    expect(pieces("python", '  """a', state).at(-1)?.kind).toBe("comment");
    expect(pieces("python", "b return 1", state)).toEqual([
      { text: "b return 1", kind: "comment" },
    ]);
    expect(pieces("python", '""" + 1', state)[0]).toEqual({ text: '"""', kind: "comment" });
    const c = startState();
    pieces("c", "int x; /* a", c);
    expect(pieces("c", "b */ return", c).map((p) => p.kind)).toEqual(["comment", null, "keyword"]);
  });

  it("gets through anything", () => {
    const nasty = "\u0000<script>%%..@@'\"\\".repeat(50);
    for (const language of ["ptx", "sass", "amd", "asm", "llvm", "c", "python", "nonsense"])
      expect(
        pieces(language, nasty, startState())
          .map((p) => p.text)
          .join(""),
      ).toBe(nasty);
  });
});

describe("times", () => {
  it("interpolates quantiles", () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([5], 0.9)).toBe(5);
    expect(quantile([], 0.5)).toBe(0);
  });

  it("counts every launch in a bin or beyond", () => {
    const us = [...Array.from({ length: 99 }, (_, i) => 10 + i / 100), 5000];
    const h = histogram(us, 16);
    expect(h.bins.reduce((a, z) => a + z, 0) + h.beyond).toBe(100);
    expect(h.beyond).toBeGreaterThan(0);
    expect(histogram([7, 7, 7]).bins[0]).toBe(3);
    expect(histogram([]).bins.every((n) => n === 0)).toBe(true);
  });
});
