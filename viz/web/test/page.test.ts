import { describe, expect, it } from "vitest";
import { bytes, clip, micros, place, places, plural, tiny, toldApart } from "../src/state/format";
import { ranked, score, wordsOf } from "../src/parts/search/rank";
import { searchSteps } from "../src/parts/search/steps";
import type { Pat } from "../src/data/messages/rule";
import { layoutPattern } from "../src/parts/rule/patternLayout";
import { dtypeWords, opWords } from "../src/parts/rule/patternWords";
import { rules } from "./dev/fixture";

describe("format", () => {
  it("gives numbers their units", () => {
    expect(micros(9.8)).toBe("9.80 µs");
    expect(micros(1234)).toBe("1.23 ms");
    expect(micros(0.02)).toBe("20 ns");
    expect(bytes(3_100_000)).toBe("3.10 MB");
    expect(bytes(12)).toBe("12 B");
    expect(plural(1, "pass", "passes")).toBe("1 pass");
    expect(plural(4942, "step")).toBe("4,942 steps");
    expect(tiny(2.4e-7)).toBe("2.4e-7");
    expect(tiny(0)).toBe("0");
  });

  it("cuts long texts with a count and finds places", () => {
    expect(clip("abcdef", 4)).toEqual({ text: "abcd", cut: 2 });
    expect(place("a/b.py:41")).toEqual({ file: "a/b.py", line: 41, call: "" });
    expect(place("C:\\x.py:7")).toEqual({ file: "C:\\x.py", line: 7, call: "" });
    expect(place("nowhere")).toEqual({ file: "nowhere", line: 0, call: "" });
    expect(place("my dir/b:2.py:41 relu")).toEqual({
      file: "my dir/b:2.py",
      line: 41,
      call: "relu",
    });
  });
});

describe("search", () => {
  const named = (title: string, detail = ""): { title: string; detail: string } => ({
    title,
    detail,
  });
  it("needs every word and prefers starts", () => {
    const all = [named("mul_distribute"), named("distribute"), named("Fit the graph")];
    const titles = (query: string): string[] => ranked(all, wordsOf(query)).map((e) => e.title);
    expect(titles("dist")).toEqual(["distribute", "mul_distribute"]);
    expect(titles("dist nope")).toEqual([]);
    expect(score(named("x", "file.py"), ["file"])).toBeGreaterThan(0);
  });

  it("finds steps by rule and by how their number begins, a million as fast as ten", () => {
    const steps = Array.from({ length: 1_000_000 }, (_, i) => i + 1);
    const all = [
      { name: "fold_32", steps: steps.filter((k) => k % 2 === 0) },
      { name: "mul_one", steps: steps.filter((k) => k % 2 === 1) },
    ];
    const titles = (words: string[]): string[] =>
      searchSteps(all, words, 3).best.map((f) => `${f.step} ${f.name}`);
    expect(titles(["mul"])).toEqual(["1 mul_one", "3 mul_one", "5 mul_one"]);
    expect(searchSteps(all, ["mul"], 3).total).toBe(500_000);
    expect(titles(["mul", "42"])).toEqual(["421 mul_one", "423 mul_one", "425 mul_one"]);
    expect(titles(["777777"])).toEqual(["777777 mul_one"]);
    expect(titles(["32"])[0]).toBe("321 mul_one");
    expect(searchSteps(all, ["32", "mul"], 3).total).toBe(5 + 50 + 500 + 5000);
    expect(searchSteps(all, ["fold_32", "3"], 3).total).toBe(500_000);
    expect(searchSteps(all, ["nothing"], 3)).toEqual({ best: [], total: 0 });
    expect(searchSteps(all, ["0"], 3)).toEqual({ best: [], total: 0 });
    const began = performance.now();
    for (let i = 0; i < 100; i++) searchSteps(all, ["mul", "77"], 8);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe("pattern drawing", () => {
  it("stands sources above their user and keeps boxes apart", () => {
    const d = layoutPattern(rules[0]!.pattern);
    expect(d.nodes).toHaveLength(7);
    expect(d.edges).toHaveLength(6);
    for (const e of d.edges) expect(e.y1).toBeLessThan(e.y2);
    for (const a of d.nodes)
      for (const z of d.nodes)
        if (a !== z && a.y === z.y)
          expect(Math.abs(a.x - z.x)).toBeGreaterThanOrEqual((a.width + z.width) / 2);
  });

  it("keeps notes inside of their boxes, and edges between the rows", () => {
    const any: Pat = { op: [], dtype: [], name: "x", arg: null, src: { kind: "any" } };
    const ints = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"];
    const d = layoutPattern({
      op: ["ADD"],
      dtype: ints,
      name: null,
      arg: null,
      src: { kind: "permuted", of: [any, { ...any, dtype: ["bool"] }] },
    });
    const root = d.nodes[0]!;
    expect(root).toMatchObject({ note: "ints", badge: "any order" });
    expect(root.width).toBeGreaterThan(90);
    const tops = root.y - root.height / 2;
    for (const n of d.nodes.slice(1)) expect(n.y + n.height / 2).toBeLessThan(tops);
    for (const e of d.edges) expect(e.y2).toBe(tops);
    expect(root.y + root.height / 2).toBeLessThanOrEqual(d.height);
  });

  it("says what it asks for in few words", () => {
    expect(opWords(["ADD", ...Array.from({ length: 27 }, (_, i) => `OP${i}`)])).toBe(
      "ADD or 27 more",
    );
    expect(opWords(["AND", "OR"])).toBe("AND or OR");
    expect(dtypeWords(["bool", "int8", "int16", "int32", "int64"])).toBe("bool, signed ints");
    expect(dtypeWords(["float32", "float64"])).toBe("float32, float64");
    expect(dtypeWords(["a", "b", "c", "d"])).toBe("a or 3 more");
    expect(dtypeWords([])).toBe("");
  });

  it("bounds a pattern without end and says what it left out", () => {
    let pat: Pat = { op: [], dtype: [], name: "x", arg: null, src: { kind: "any" } };
    for (let i = 0; i < 200; i++)
      pat = {
        op: ["ADD"],
        dtype: [],
        name: null,
        arg: null,
        src: { kind: "ordered", of: [pat, pat] },
      };
    const d = layoutPattern(pat);
    expect(d.nodes.length).toBeLessThanOrEqual(60);
    expect(d.left).toBeGreaterThan(0);
  });
});

describe("names of files in a list", () => {
  it("are their last parts, with folders where these are equal", () => {
    const told = toldApart(["run/a/layers.py", "run/b/layers.py", "run/train.py", "layers.py"]);
    expect([...told.values()]).toEqual(["a/layers.py", "b/layers.py", "train.py", "layers.py"]);
    expect(toldApart(["x/a/l.py", "y/a/l.py"]).get("x/a/l.py")).toBe("x/a/l.py");
  });
});

describe("the origins of a node", () => {
  it("are all lines that ask for it", () => {
    expect(places("a.py:3 add\nb.py:4")).toEqual([place("a.py:3 add"), place("b.py:4")]);
    expect(places("")).toEqual([]);
  });
});
