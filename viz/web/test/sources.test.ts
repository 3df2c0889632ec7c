import { beforeEach, describe, expect, it } from "vitest";
import type { Artifact, RunResult } from "../src/data/messages/kernel";
import {
  chooseColumns,
  columnKey,
  columnsToShow,
  kindName,
  kindsOfTarget,
  possibleColumns,
  targetOf,
} from "../src/parts/kernel/columns";
import { tellingFacts } from "../src/parts/source/facts";
import { histogram, quantile } from "../src/parts/run/histogram";
import { pieces, startState } from "../src/ui/code/languages";
import { indexLines, linesOf } from "../src/parts/kernel/lines";
import {
  MOST_RUNS,
  optsWord,
  baseOf,
  compared,
  costOf,
  wayWord,
  withRun,
} from "../src/parts/run/runs";
import { run } from "../src/state/state";
import { compiled, run as fixtureRun } from "./dev/fixture";
import { AMD, HIP, LLVM, PTX } from "./dev/sources";

const ran = (device: string, opts: string | null, median: number): RunResult => ({
  device,
  opts,
  source: null,
  us: [median],
  median,
  p90: median,
  equal: true,
  maxError: 0,
  reference: "REFERENCE",
  tolerance: 0,
  detail: "",
  takes: {},
  instructions: null,
});

describe("runs of a kernel", () => {
  it("are compared with the first one, each way of running once", () => {
    const auto = ran("CPU", null, 10);
    const none = ran("CPU", "", 40);
    const own = ran("CPU", "UPCAST(0, 4)", 7.8);
    const runs = [auto, none, own].reduce<RunResult[]>(withRun, []);
    const said = runs.map((r) => compared(r, runs[0]!));
    expect(said.map((one) => one?.words)).toEqual(["same time", "4.0× the time", "22% less time"]);
    // one after the other, not in turn
    expect(said.map((one) => one?.tint)).toEqual(["", "", ""]);
    expect(runs.map((r) => optsWord(r.opts))).toEqual(["auto", "none", "UPCAST(0, 4)"]);
    const again = ran("CPU", "", 38);
    expect(withRun(runs, again)).toEqual([auto, again, own]);
    expect(compared(ran("CPU", null, 0), auto)).toBeNull();
  });

  it("on an emulator are counted, and compared with others of that emulator only", () => {
    const counted = (device: string, opts: string | null, instructions: number): RunResult => ({
      ...ran(device, opts, 1000),
      instructions,
    });
    const cpu = ran("CPU", null, 10);
    const ptx = counted("PTX:EMU", null, 1000);
    const none = counted("PTX:EMU", "", 2500);
    const fewer = counted("PTX:EMU", "UPCAST(0, 4)", 500);
    const amd = counted("AMD:EMU", null, 4000);
    const runs = [ptx, cpu, none, fewer, amd];
    expect(runs.map((r) => baseOf(r, runs))).toEqual([ptx, cpu, ptx, ptx, amd]);
    expect(runs.map((r) => compared(r, baseOf(r, runs)!)?.words)).toEqual([
      "same number",
      "same time",
      "2.5× as many",
      "50% fewer",
      "same number",
    ]);
    const wrong = { ...fewer, equal: false };
    expect([none, fewer, wrong].map((r) => compared(r, ptx)?.tint)).toEqual(["cmov", "cadd", ""]);
    expect(runs.map(costOf).slice(0, 2)).toEqual(["1,000 instructions", "10 µs"]);
  });

  it("of an edited text are a row of their own", () => {
    const auto = ran("CPU", null, 10);
    const edited = { ...ran("CPU", null, 8), source: "llvm" };
    const runs = [auto, edited].reduce<RunResult[]>(withRun, []);
    expect(runs.map(wayWord)).toEqual(["auto", "edited"]);
    const again = { ...edited, median: 9, equal: false };
    expect(withRun(runs, again)).toEqual([auto, again]);
  });

  it("keep the first one, whatever comes after", () => {
    let runs: RunResult[] = [];
    for (let i = 0; i < 3 * MOST_RUNS; i++) runs = withRun(runs, ran("CPU", `UPCAST(0, ${i})`, 1));
    expect(runs).toHaveLength(MOST_RUNS);
    expect(runs[0]!.opts).toBe("UPCAST(0, 0)");
    expect(runs.at(-1)!.opts).toBe(`UPCAST(0, ${3 * MOST_RUNS - 1})`);
  });
});

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
  beforeEach(() => {
    run.value = fixtureRun;
  });

  it("are called what the run says, and a kind that it does not know by its name", () => {
    expect(kindName("ptx")).toBe("PTX");
    expect(kindName("mlir")).toBe("mlir");
    expect(kindsOfTarget("gfx942")).toEqual(["amd_isa", "hip", "llvm"]);
    expect(kindsOfTarget("dsp")).toEqual([]);
    run.value = null;
    expect(kindName("ptx")).toBe("ptx");
  });

  it("name kind and target, also where the target has a colon", () => {
    expect(targetOf(columnKey(art("ptx", "a:b")))).toBe("a:b");
  });

  it("put recorded sources before what could be compiled", () => {
    const chosen = chooseColumns([art("ptx", "sm_80"), art("llvm", "x86-64")], ["sm_90", "gfx942"]);
    expect(chosen).toEqual(["ptx:sm_80", "amd_isa:gfx942", "hip:gfx942", "llvm:x86-64"]);
    expect(chooseColumns([], [])).toEqual([]);
  });

  it("of another compiler stand first, and are all there is where nothing can be compiled", () => {
    const own = [art("mlir", "dsp"), art("c", "dsp")];
    expect(chooseColumns(own, [])).toEqual(["mlir:dsp", "c:dsp"]);
    expect(columnsToShow(["ptx:sm_90", "hip:gfx942"], own, [])).toEqual(["mlir:dsp", "c:dsp"]);
    expect(columnsToShow(["ptx:sm_90", "c:dsp"], own, [])).toEqual(["c:dsp"]);
    expect(columnsToShow(["ptx:sm_90"], own, ["sm_90"])).toEqual(["ptx:sm_90"]);
    expect(columnsToShow([], own, [])).toEqual([]);
    expect(columnsToShow(null, own, [])).toEqual(["mlir:dsp", "c:dsp"]);
  });

  it("list a target's artifacts as they are once they are known", () => {
    const keys = possibleColumns(compiled("gfx942"), ["gfx942", "gfx1100"], new Set(["gfx942"]));
    expect(keys).toContain("hip:gfx1100");
    expect(keys.filter((k) => k.endsWith("gfx942"))).toHaveLength(3);
  });

  it("offer what a target gives beyond the one text that the run recorded", () => {
    const recorded = [art("llvm", "x86-64")];
    const targets = ["sm_90", "x86-64-v3", "x86-64"];
    expect(possibleColumns(recorded, targets)).toContain("cpu_asm:x86-64");
    expect(possibleColumns(recorded, targets, new Set(["x86-64"]))).not.toContain("c:x86-64");
    expect(chooseColumns(recorded, ["x86-64-v3", "x86-64"])).toEqual([
      "llvm:x86-64",
      "cpu_asm:x86-64",
      "c:x86-64",
    ]);
  });
});

describe("lines of a node", () => {
  const index = indexLines({ lines: [[1], [], [1, 2]], origins: [[9], [9, 9], [8]] });
  it("are its own if there are any, else those of the same origin", () => {
    const origins = new Map([
      [5, [9]],
      [1, [8]],
    ]);
    expect(linesOf(index, origins, 1).lines).toEqual([0, 2]);
    expect(linesOf(index, origins, 5).lines).toEqual([0, 1]);
    expect(linesOf(index, origins, 77).lines).toEqual([]);
    expect(linesOf(index, new Map(), 8).lines).toEqual([2]);
  });

  it("that come from exactly the same go before those that share a part", () => {
    const shared = indexLines({
      lines: [[], [], [], []],
      origins: [[1, 2], [1], [2, 1], [1, 2, 3]],
    });
    const of = (...ids: number[]) => linesOf(shared, new Map([[9, ids]]), 9);
    expect(of(2, 1)).toEqual({ lines: [0, 2], cut: 0 });
    expect(of(3)).toEqual({ lines: [3], cut: 0 });
    expect(of(1, 3)).toEqual({ lines: [0, 1, 2, 3], cut: 0 });
  });

  it("are cut to the most alike where they would be more than a third of the text", () => {
    const origins = [[1, 2], ...Array.from({ length: 29 }, () => [1, 7, 8, 9])];
    const long = indexLines({ lines: origins.map(() => []), origins });
    expect(linesOf(long, new Map([[5, [1, 2, 3]]]), 5)).toEqual({ lines: [0], cut: 29 });
    expect(linesOf(long, new Map([[5, [9]]]), 5)).toEqual({ lines: [], cut: 29 });
  });

  it("that come from exactly the same are all of them, however many they are", () => {
    const reduce = Array.from({ length: 40 }, () => [7, 8]);
    const long = indexLines({ lines: reduce.map(() => []), origins: [...reduce, [1]] });
    const { lines, cut } = linesOf(long, new Map([[5, [8, 7]]]), 5);
    expect([lines.length, cut]).toEqual([40, 0]);
  });
});

describe("facts", () => {
  it("come by importance and without zeros", () => {
    const facts = [
      ["instructions", "84"],
      ["barriers", "0"],
      ["occupancy", "8 of 8 waves"],
      ["sgprs", "17"],
      ["vgpr spills", "3"],
      ["vgprs", "11"],
    ].map(([name, value]) => ({ name: name!, value: value! }));
    expect(tellingFacts(facts).map((f) => f.name)).toEqual([
      "vgprs",
      "vgpr spills",
      "occupancy",
      "instructions",
      "sgprs",
    ]);
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
