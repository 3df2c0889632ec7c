import { describe, expect, it } from "vitest";
import type { Peak } from "../src/data/messages/kernel";
import type { Activity, KernelLine } from "../src/data/messages/overview";
import { optsSentence } from "../src/panels/overview/kernel/opts";
import {
  binAt,
  layerPath,
  memoryPath,
  sharesIn,
  stretchOf,
} from "../src/panels/overview/run/course";
import { textsOf } from "../src/panels/overview/data/texts";
import { columnsFor, devicesOf, isCopy, linesOf } from "../src/panels/overview/data/columns";
import { keepPlaces } from "../src/panels/overview/data/places";
import { target } from "../src/parts/arrows";
import { digits, percent, speedOf } from "../src/parts/speed";
import { kernelAt, passAt, rulesNamed, spansNamed, timeAt } from "../src/state/link/links";
import { hashOf, Query } from "../src/state/link/query";
import { FIRST_VIEW, isJump, readView, writeView, type View } from "../src/state/link/view";
import { timelineLink } from "../src/panels/timeline/data/link";
import { rulesLink } from "../src/panels/rules/data/link";

const read = (hash: string): View => readView(new Query(hash));
const written = (view: View): string => hashOf((put) => writeView(view, put));

describe("which page a link opens", () => {
  it("is the overview where it names nothing, and what it names otherwise", () => {
    expect(read("").page).toBe("overview");
    expect(read("#r=7&k=2").page).toBe("graphs");
    expect(read("#r=7&kernel=4")).toMatchObject({ page: "overview", kernel: 4, rewrite: 7 });
    expect(read("#v=timeline&kernel=4")).toMatchObject({ page: "timeline", kernel: null });
    expect(read("#v=nonsense&r=1").page).toBe("graphs");
    expect(read("#kernel=-3").kernel).toBeNull();
  });

  it("is the same after it was written", () => {
    const views: Partial<View>[] = [
      {},
      { page: "overview", rewrite: 7 },
      { page: "overview", kernel: 4 },
      { page: "overview", kernel: 4, rewrite: 7, step: 2 },
      { page: "graphs" },
      { page: "graphs", rewrite: 7 },
      { page: "rules", rewrite: 7 },
    ];
    for (const change of views) {
      const view = { ...FIRST_VIEW, ...change };
      expect(read(written(view)), written(view)).toEqual(view);
    }
    expect(written({ ...FIRST_VIEW, page: "graphs", rewrite: 7 })).toBe("#r=7");
    expect(written({ ...FIRST_VIEW, kernel: 4 })).toBe("#kernel=4");
  });

  it("makes a kernel's page an entry of its own in the history", () => {
    expect(isJump(FIRST_VIEW, { ...FIRST_VIEW, kernel: 4 })).toBe(true);
  });
});

describe("links within the page", () => {
  it("say what they name in the words of the pages", () => {
    expect(read(kernelAt(12)).kernel).toBe(12);
    expect(read(passAt(9, 3))).toMatchObject({ page: "graphs", rewrite: 9, step: 3 });
    timelineLink.read(new Query(timeAt([1.4, 1.5])));
    expect(timelineLink.peek().time).toEqual([1, 3]);
    timelineLink.read(new Query(spansNamed("a & b#c")));
    expect(timelineLink.peek().pick).toBe("n:a & b#c");
    rulesLink.read(new Query(rulesNamed("add_zero")));
    expect(rulesLink.peek().query).toBe("add_zero");
  });
});

describe("what is listed while a run goes on", () => {
  const letters = (text: string): string[] => Array.from(text);
  const keep = (before: string, next: string): string =>
    keepPlaces(letters(before), letters(next), (letter) => letter).join("");
  it("stays where it is", () => {
    expect(keep("abc", "cba")).toBe("abc");
    expect(keep("abc", "dabc")).toBe("abcd");
    expect(keep("abc", "xcb")).toBe("xbc");
    expect(keep("", "xy")).toBe("xy");
    expect(keep("abcd", "d")).toBe("d");
    expect(keep("ab", "pqab")).toBe("abpq");
  });
});

const peak: Peak = { device: "CPU", processor: "p", flops: 1e11, bytes: 1e10, measured: "" };

const kernel = (more: Partial<KernelLine>): KernelLine => ({
  context: 1,
  equal: 1,
  name: "k",
  calls: "",
  place: "",
  target: "",
  device: "CPU",
  launches: 0,
  us: 0,
  share: 0,
  spread: null,
  flops: 0,
  bytes: 0,
  registers: [],
  steps: 0,
  compileUs: 0,
  status: "ok",
  ...more,
});
const spread = { median: 10, p90: 12, low: 9, high: 20, from: 9, to: 13, bins: [1], beyond: 0 };

describe("the table of kernels", () => {
  it("has no column without a number in it", () => {
    const bare = linesOf([kernel({})], "steps", () => undefined, () => null);
    expect(columnsFor(bare, "steps", true).map((c) => c.key)).toEqual(["name"]);
    const some = linesOf([kernel({}), kernel({ steps: 3, compileUs: 5 })], "compile", () => peak, () => null);
    expect(columnsFor(some, "compile", true).map((c) => c.name)).toEqual([
      "Kernel",
      "Compile time",
      "Steps",
    ]);
    const awaited = columnsFor(some, "compile", true, true).map((c) => c.name);
    expect(awaited).toEqual(["Kernel", "Check", "Compile time", "Steps"]);
    expect(columnsFor(bare, "steps", true, true).map((c) => c.key)).toEqual(["name"]);
  });

  it("says what ran where, once there are several devices", () => {
    const on = (...devices: string[]): KernelLine => kernel({ device: devices[0]!, devices, launches: 1 });
    const keys = (lines: KernelLine[]): string[] =>
      columnsFor(linesOf(lines, "run", () => undefined, () => null), "run", false).map((c) => c.key);
    expect(keys([on("CPU"), on("CPU"), on()])).toEqual(["name", "launches"]);
    expect(keys([on("CPU"), on("CPU:1")])).toEqual(["name", "devices", "launches"]);
    expect(keys([on("CPU", "CPU:1")])).toContain("devices");
    const [both, old] = linesOf([on("CPU", "CPU:1"), kernel({})], "run", () => undefined, () => null);
    expect([devicesOf(both!), devicesOf(old!)]).toEqual(["CPU, CPU:1", "CPU"]);
  });

  it("knows copies, which no kernel makes", () => {
    const named = (name: string, context: number): boolean =>
      isCopy(linesOf([kernel({ name, context })], "run", () => undefined, () => null)[0]!);
    expect(named("copy CPU:1 to PTX:EMU", -1)).toBe(true);
    expect(named("copy CPU:1 to PTX:EMU", 7)).toBe(false);
    expect(named("copy", -1)).toBe(false);
    expect(named("early", -1)).toBe(false);
  });

  it("keeps room for the shares of a machine that may still be measured", () => {
    const lines = linesOf([kernel({ spread, flops: 9, bytes: 9 })], "run", () => undefined, () => null);
    const widths = (shares: boolean): string[] =>
      columnsFor(lines, "run", shares)
        .filter((c) => c.key === "flops" || c.key === "bytes")
        .map((c) => c.width);
    expect(widths(true)).toEqual(["88px", "88px"]);
    expect(widths(false)).toEqual(["52px", "52px"]);
  });

  it("compares with the peaks of the machine, where these are known", () => {
    const full = kernel({ launches: 3, us: 30, spread, flops: 100_000, bytes: 10_000 });
    const [known] = linesOf([full], "run", () => peak, () => null);
    expect(known!.speed).toEqual({ gflops: 10, gbytes: 1, flopsShare: 0.1, bytesShare: 0.1 });
    const [unknown] = linesOf([full], "run", () => undefined, () => null);
    expect(unknown!.speed).toMatchObject({ gflops: 10, flopsShare: null, bytesShare: null });
    expect(speedOf(5, 5, undefined, peak)).toMatchObject({ gflops: 0, gbytes: 0 });
    expect(speedOf(5, 5, 0, { ...peak, flops: 0 })).toMatchObject({ gflops: 0, flopsShare: null });
  });
});

describe("numbers of the overview", () => {
  it("have three digits that count", () => {
    expect([1240.4, 111, 42.25, 4.789, 0.7341, 0.00004, 0, NaN].map(digits)).toEqual([
      "1,240",
      "111",
      "42.3",
      "4.79",
      "0.734",
      "<0.001",
      "0",
      "",
    ]);
    expect([0, 0.0004, 0.031, 0.0998, 0.27, 1, 2.7].map(percent)).toEqual([
      "0%",
      "<0.1%",
      "3.1%",
      "10%",
      "27%",
      "100%",
      ">100%",
    ]);
  });
});

describe("the course of a run", () => {
  const activity: Activity = {
    end: 100,
    parts: [],
    strip: { run: [0, 500, 1000, 0], compile: [250, 500, 0, 0], schedule: [250, 0, 0, 0] },
    memory: [0, 10, 20, 5],
    peak: 20,
  };
  it("stacks its parts", () => {
    expect(layerPath(activity.strip, "run")).toBe("M1 500h1V1000h-1ZM2 0h1V1000h-1Z");
    expect(layerPath(activity.strip, "compile")).toBe("M0 750h1V1000h-1ZM1 0h1V500h-1Z");
    expect(layerPath(activity.strip, "schedule")).toBe("M0 500h1V750h-1Z");
  });
  it("draws memory up to its peak, and nothing without one", () => {
    expect(memoryPath(activity.memory, 20)).toBe("M0 1000V1000h1V500h1V0h1V750h1V1000Z");
    expect(memoryPath([], 20)).toBe("");
    expect(memoryPath([0, 0], 0)).toBe("");
  });
  it("says what is under the pointer and what of the timeline it stands for", () => {
    expect([-1, 0, 0.5, 1, 2].map((place) => binAt(activity, place))).toEqual([0, 0, 2, 3, 3]);
    expect(sharesIn(activity, 0)).toEqual([
      { kind: "rest", share: 0.5 },
      { kind: "compile", share: 0.25 },
      { kind: "schedule", share: 0.25 },
    ]);
    expect(stretchOf(activity, 1)).toEqual([0, 100]);
  });
});

describe("recorded lines", () => {
  it("are found by file and line, the last state of a file first", () => {
    const state = (lines: string[]) => ({
      file: "a.py",
      cut: false,
      parts: [{ first: 3, lines }],
      kernels: [],
    });
    const texts = textsOf([state(["x", "y"]), state(["z"])]);
    expect([...texts]).toEqual([
      ["a.py:3", "z"],
      ["a.py:4", "y"],
    ]);
  });
});

describe("opts in words", () => {
  it("are one sentence", () => {
    expect(optsSentence([])).toBe("The compiler applied no optimization.");
    expect(optsSentence(["swaps", "unrolls", "pads"])).toBe("The kernel swaps, unrolls, and pads.");
  });
});

describe("arrow keys", () => {
  it("lead along lines and places", () => {
    expect(target("ArrowDown", 0, 3, 1)).toEqual({ line: 1, place: 1 });
    expect(target("ArrowDown", 2, 3, 1)).toEqual({ line: 2, place: 1 });
    expect(target("End", 0, 3, 0)).toEqual({ line: 2, place: 0 });
    expect(target("ArrowLeft", 1, 3, 2)).toEqual({ line: 1, place: 1 });
    expect(target("a", 1, 3, 2)).toBeNull();
  });
});
