import { describe, expect, it } from "vitest";
import type { Counters, Walk } from "../src/data/messages/emulation";
import {
  compares,
  ConditionError,
  LONGEST_CONDITION,
  parseCondition,
} from "../src/parts/emulation/condition";
import { stopsOf, toStop } from "../src/parts/emulation/stops";
import {
  accessesAt,
  conflictsOf,
  lineAt,
  nextOf,
  ranAt,
  registersAt,
  storedAt,
  toChange,
  toLine,
  usedBy,
} from "../src/parts/emulation/walk";
import { factsOf, worstOf } from "../src/panels/emulator/text/facts";
import { arrange, place, placesOf, shown } from "../src/panels/emulator/warp/shown";

const walk: Walk = {
  block: 0,
  warp: 2,
  first: 8,
  width: 4,
  names: ["%r0", "%r1"],
  line: [3, 4, 5, 4, 5, 9],
  active: ["f", "f", "3", "f", "1", "f"],
  registers: [
    [0, 0, "uint32", 7],
    [1, 1, "float32", [0.5, 1.5, null, null]],
    [3, 1, "float32", [2, 3, 4, 5]],
    [4, 0, "uint32", [8, 7, 7, 7]],
  ],
  memory: [
    [
      5,
      "global",
      "data0",
      8,
      4,
      [8, 9],
      [0, 8],
      [
        [1, 2],
        ["inf", 4],
      ],
      [
        [1, 0],
        [0, 0],
      ],
    ],
    [5, "shared", "", 4, 4, [3], [20], [[7]], [[6]]],
  ],
  accesses: [
    [2, "shared", "", false, 4, [0, 1], [0, 128], 0],
    [5, "global", "data0", true, 8, [0, 1], [0, 8], 1],
  ],
  served: [
    { hits: [[0, 0, [0]], [0, 1, [1]]], first: [0], ways: 2, extra: 1, least: 0 },
    { hits: [[0, 0, [0, 1]]], first: [0], ways: 1, extra: 0, least: 1 },
  ],
  uses: [
    [4, 1, 0],
    [9, 0],
  ],
  known: null,
  arguments: [["data0", "float32", 6, 4]],
  fault: null,
  more: false,
};

describe("stepping through a warp", () => {
  it("has the registers as an instruction left them, the last written first", () => {
    expect(registersAt(walk, 1)).toEqual([
      {
        number: 1,
        name: "%r1",
        kind: "float32",
        values: [0.5, 1.5, null, null],
        changed: true,
        since: 1,
      },
      { number: 0, name: "%r0", kind: "uint32", values: [7, 7, 7, 7], changed: false, since: 0 },
    ]);
    const end = registersAt(walk, 5);
    expect(end.map((r) => r.values)).toEqual([
      [8, 7, 7, 7],
      [2, 3, 4, 5],
    ]);
    expect(end.some((r) => r.changed)).toBe(false);
    expect(usedBy(walk, 4)).toEqual([1, 0]);
    expect(usedBy(walk, 3)).toEqual([]);
  });

  it("says what an instruction stored", () => {
    expect(storedAt(walk, 4)).toEqual([]);
    const [own, other] = storedAt(walk, 5);
    expect([own!.argument, own!.mine, own!.cells.size]).toEqual(["data0", true, 2]);
    expect(own!.cells.get(9)).toEqual({
      place: "data0[2]",
      values: ["inf", 4],
      before: [0, 0],
    });
    expect([other!.mine, other!.cells.get(3)!.place]).toEqual([false, "shared[20]"]);
  });

  it("says where an instruction loaded and stored", () => {
    const [shared] = accessesAt(walk, 2);
    expect([shared!.space, shared!.item, [...shared!.at]]).toEqual([
      "shared",
      1,
      [
        [0, 0],
        [1, 128],
      ],
    ]);
    expect(shared!.served?.ways).toBe(2);
    expect(accessesAt(walk, 3)).toEqual([]);
    expect(place(shared!, 128)).toBe("0x0080");
    const [global] = accessesAt(walk, 5);
    expect([place(global!, 8), place(global!, 9)]).toEqual(["data0[2]", "data0 + 9 B"]);
    expect([...placesOf(shared!)]).toEqual([
      [0, "0"],
      [1, "0"],
    ]);
  });

  it("knows the line of an instruction, and which lanes ran it", () => {
    expect([0, 2, 6].map((at) => lineAt(walk, at))).toEqual([3, 5, 0]);
    expect([0, 1, 2, 3].map((lane) => ranAt(walk, 2, lane))).toEqual([true, true, false, false]);
    expect(ranAt(walk, 6, 0)).toBe(false);
  });

  it("goes to breakpoints, forwards and back, else to the ends", () => {
    const lines = new Set([5]);
    expect(toStop(walk, 0, lines, [])).toBe(2);
    expect(toStop(walk, 2, lines, [])).toBe(4);
    expect(toStop(walk, 4, lines, [])).toBe(5);
    expect(toStop(walk, 4, lines, [], true)).toBe(2);
    expect(toStop(walk, 2, lines, [], true)).toBe(0);
  });

  it("finds its way among very many places to stop", () => {
    const count = 300_000;
    const long = { ...walk, line: Array<number>(count).fill(5) };
    const stops = long.line.map((_, at) => ({ at, condition: 0, thread: 8 }));
    expect(toStop(long, 7, new Set([5]), stops)).toBe(8);
    expect(toStop(long, 7, new Set([5]), stops, true)).toBe(6);
  });

  it("goes to where a register is written next, and to the next instruction of a line", () => {
    expect(toChange(walk, 0, 1)).toBe(1);
    expect(toChange(walk, 1, 1)).toBe(3);
    expect(toChange(walk, 3, 1)).toBe(5);
    expect([toLine(walk, 0, 5), toLine(walk, 2, 5), toLine(walk, 4, 5)]).toEqual([2, 4, 2]);
    expect(toLine(walk, 0, 7)).toBeNull();
  });

  it("goes from one bank conflict to the next", () => {
    expect(conflictsOf(walk)).toEqual([2]);
    expect([nextOf([2, 4], 2), nextOf([2, 4], 4), nextOf([2, 4], 4, true)]).toEqual([4, null, 2]);
  });

  it("holds wide warps", () => {
    const wide = { ...walk, width: 64, active: ["8000000000000001"] };
    expect([0, 1, 62, 63].map((lane) => ranAt(wide, 0, lane))).toEqual([true, false, false, true]);
  });
});

describe("registers beside each other", () => {
  const registers = registersAt(walk, 3);

  it("are those of the line first; equal ones have no column", () => {
    const { columns, equal, rest } = arrange(registers, [1, 0], new Set(), 4);
    expect(columns.map((r) => r.name)).toEqual(["%r1"]);
    expect(equal.map((r) => r.name)).toEqual(["%r0"]);
    expect(rest).toBe(0);
  });

  it("are those that were picked before all others, and as many as there is room for", () => {
    const { columns, equal, rest } = arrange(registers, [1], new Set(["%r0"]), 1);
    expect(columns.map((r) => r.name)).toEqual(["%r0"]);
    expect([equal.length, rest]).toEqual([0, 1]);
  });

  it("have values of few characters", () => {
    expect(
      [0.123456789, 1e-9, 3, true, "1152921504606846976", 2 ** 40, null, "nan"].map(shown),
    ).toEqual(["0.12346", "1.000e-9", "3", "1", "0x1000000000000000", "0x10000000000", "", "nan"]);
  });
});

describe("what lines did", () => {
  const counters: Counters = {
    kinds: {},
    total: 0,
    lines: {
      line: [3, 5, 8],
      threads: [64, 40, 64],
      lanes: [64, 64, 64],
      warps: [2, 2, 2],
      divergent: [0, 1, 0],
      sectors: [0, 0, 32],
      least: [0, 0, 4],
      conflicts: [7, 0, 21],
      ways: [8, 1, 4],
      loaded: [{ shared: 256 }, {}, { global: 128 }],
      stored: [{}, {}, {}],
    },
  };

  it("says where threads are missing and sectors are many", () => {
    const facts = factsOf(counters);
    expect(facts.get(3)).toMatchObject({ missing: "", bytes: "256 B", ways: "8", extra: "7" });
    expect(facts.get(5)!.missing).toBe(
      "40 of the 64 threads of its warps, 1 of 2 warps with some only",
    );
    expect(facts.get(8)!.fewest).toContain("8.0 times the 4 sectors");
    expect(facts.get(5)!.ways).toBe("");
  });

  it("lists conflicts, worst first", () => {
    expect(worstOf(counters)).toEqual([
      { line: 8, extra: 21 },
      { line: 3, extra: 7 },
    ]);
  });
});

const stopsAt = (...texts: string[]): [number, number, number][] =>
  stopsOf(
    walk,
    texts.map((text) => parseCondition(text, walk)),
  ).map((s) => [s.at, s.condition, s.thread]);

describe("conditions to stop at", () => {
  it("are met where a register is written so", () => {
    expect(stopsAt("%r0 == 7")).toEqual([[0, 0, 8]]);
    expect(stopsAt("%r0 written")).toEqual([
      [0, 0, 8],
      [4, 0, 8],
    ]);
    expect(stopsAt("%r0>7")).toEqual([[4, 0, 8]]);
    expect(stopsAt("%r1 >= 4")).toEqual([[3, 0, 10]]);
  });

  it("are met where a value changes, of one thread or any that ran", () => {
    expect(stopsAt("%r0 changes")).toEqual([
      [0, 0, 8],
      [4, 0, 8],
    ]);
    expect(stopsAt("thread 9: %r0 changes")).toEqual([[0, 0, 9]]);
    expect(stopsAt("thread 9 : %r0 written")).toEqual([[0, 0, 9]]); // step 4 was thread 8's alone
    expect(stopsAt("thread 11: %r1 == 5")).toEqual([[3, 0, 11]]);
  });

  it("are met where memory is stored to, by other warps too", () => {
    expect(stopsAt("data0[0] written")).toEqual([[5, 0, 8]]);
    expect(stopsAt("data0[0] changes")).toEqual([]);
    expect(stopsAt("data0[1] changes")).toEqual([[5, 0, 8]]);
    expect(stopsAt("data0[2] == inf")).toEqual([[5, 0, 9]]);
    expect(stopsAt("thread 8: data0[2] == inf")).toEqual([]);
    expect(stopsAt("data0[3] < 4", "shared[22] == 7")).toEqual([[5, 1, 3]]);
    expect(stopsAt("shared[24] written")).toEqual([]);
  });

  it("stop the stepping, forwards and back, as lines do", () => {
    const stops = stopsOf(walk, [parseCondition("%r0 written", walk)]);
    const lines = new Set([4]);
    const way = [0];
    while (way.at(-1)! < 5) way.push(toStop(walk, way.at(-1)!, lines, stops));
    expect(way).toEqual([0, 1, 3, 4, 5]);
    expect(toStop(walk, 5, lines, stops, true)).toBe(4);
    expect(toStop(walk, 1, lines, stops, true)).toBe(0);
  });

  it("compare all values that registers have", () => {
    const is = (value: number | boolean | string, text: string, kind = ""): boolean => {
      const { test } = parseCondition(`%r0 ${text}`, walk);
      return test.kind === "relation" && compares(value, kind, test);
    };
    expect(is("9007199254740993", "== 9007199254740993")).toBe(true);
    expect(is("9007199254740993", "== 9007199254740992")).toBe(false);
    expect(is("18446744073709551615", "> 1e19")).toBe(true);
    expect(is("nan", "== nan")).toBe(true);
    expect(is("nan", "!= 0")).toBe(true);
    expect(is("nan", "< 0") || is("nan", ">= 0")).toBe(false);
    expect(is("-inf", "== -inf")).toBe(true);
    expect(is(true, "== true") && is(false, "== 0")).toBe(true);
    expect(is(4294967295, "== -1", "uint32")).toBe(true);
    expect(is(4294967295, "!= -1", "uint32")).toBe(false);
    expect(is(-1, "== -1", "int32")).toBe(true);
    expect(is(255, "== 0xff")).toBe(true);
    expect(is(2, "== 0f40000000") && is(2, "== 0d4000000000000000")).toBe(true);
    expect(is(0.5, "== .5") && is(0.5, "== 5e-1") && is(-0.5, "== -0.5")).toBe(true);
  });

  it.each([
    ["", "Write a condition"],
    ["   ", "Write a condition"],
    ["%r9 == 0", "no register %r9; there are %r0 to %r1"],
    ["%q == 0", "no register %q"],
    ["_ == 0", "no memory called _"],
    ["%r0", "Say when to stop"],
    ["%r0 = 0", "written =="],
    ["%r0 == ", "A number follows"],
    ["%r0 == zero", "A number follows"],
    ["%r0 == 1 2", "Nothing may follow"],
    ["%r0 == 1; alert(1)", "is not understood"],
    ["%r0 becomes 1", "“becomes” is not understood"],
    ["%r0 ] 1", "compares nothing"],
    ["out[5] changes", "no memory called out: there is data0, shared, local"],
    ["data0 changes", "data0[0]"],
    ["data0[ changes", "whole number"],
    ["data0[-1] changes", "whole number"],
    ["data0[1.5] changes", "whole number"],
    ["data0[1e300] changes", "whole number"],
    ["data0[6] changes", "6 elements, so 5 is the last"],
    ["data0[5 changes", "bracket is missing"],
    ["local[0] changes", "Each thread has local memory"],
    ["thread 3: %r0 changes", "threads 8 to 11"],
    ["thread 9 %r0 changes", "A colon follows"],
    ["thread x: %r0 changes", "whole number"],
    ["constructor[0] changes", "no memory called constructor"],
    ["%__proto__ == 0", "no register %__proto__"],
    ["\u0000", "is not understood"],
    ["<script>", "begins with a register"],
    ["9".repeat(LONGEST_CONDITION + 1), "at most 200 characters"],
  ])("refuse %j", (text, said) => {
    expect(() => parseCondition(text, walk)).toThrow(ConditionError);
    expect(() => parseCondition(text, walk)).toThrow(said);
  });

  it("take names as LLVM writes them", () => {
    const llvm = { ...walk, names: ["%v2", '%"a b"', "%12", "%x.y-z"] };
    for (const name of llvm.names)
      expect(parseCondition(`${name} changes`, llvm).place).toMatchObject({ kind: "register" });
  });

  it("take any text in bounded time", () => {
    let seed = 11;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    const parts = [
      "%r0",
      "data0",
      "[",
      "]",
      "==",
      "1",
      "thread",
      ":",
      " ",
      "e",
      "-",
      '"',
      "%",
      "nan",
    ];
    for (let round = 0; round < 800; round++) {
      const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]!).join("");
      try {
        stopsOf(walk, [parseCondition(text, walk)]);
      } catch (thrown) {
        expect(thrown, `seed 11, round ${round}: ${text}`).toBeInstanceOf(ConditionError);
      }
    }
  });
});
