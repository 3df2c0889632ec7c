import { describe, expect, it } from "vitest";
import type { Walk } from "../src/data/messages/emulation";
import {
  compares,
  ConditionError,
  LONGEST_CONDITION,
  parseCondition,
} from "../src/parts/emulation/condition";
import { stopsOf, toStop } from "../src/parts/emulation/stops";
import {
  isActive,
  nextLine,
  registersAfter,
  storedBy,
  toChange,
} from "../src/parts/emulation/walk";

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
  known: null,
  arguments: [["data0", "float32", 6, 4]],
  fault: null,
  more: false,
};

describe("stepping through a warp", () => {
  it("has the registers that were written so far, and marks those of the last step", () => {
    expect(registersAfter(walk, 0)).toEqual([]);
    expect(registersAfter(walk, 2)).toEqual([
      { name: "%r0", kind: "uint32", values: [7, 7, 7, 7], changed: false },
      { name: "%r1", kind: "float32", values: [0.5, 1.5, null, null], changed: true },
    ]);
    const end = registersAfter(walk, 6);
    expect(end.map((r) => r.values)).toEqual([
      [8, 7, 7, 7],
      [2, 3, 4, 5],
    ]);
    expect(end.some((r) => r.changed)).toBe(false);
  });

  it("says what the last step stored", () => {
    expect(storedBy(walk, 5)).toEqual([]);
    const [own, other] = storedBy(walk, 6);
    expect([own!.argument, own!.mine, own!.cells.size]).toEqual(["data0", true, 2]);
    expect(own!.cells.get(9)).toEqual({
      place: "data0[2]",
      values: ["inf", 4],
      before: [0, 0],
    });
    expect([other!.mine, other!.cells.get(3)!.place]).toEqual([false, "shared[20]"]);
  });

  it("knows the line that comes next, and who runs it", () => {
    expect([0, 2, 6].map((at) => nextLine(walk, at))).toEqual([3, 5, 0]);
    expect([0, 1, 2, 3].map((t) => isActive(walk, 2, t))).toEqual([true, true, false, false]);
    expect(isActive(walk, 6, 0)).toBe(false);
  });

  it("goes to breakpoints, forwards and back, else to the ends", () => {
    const at = new Set([5]);
    expect(toStop(walk, 0, at, [])).toBe(2);
    expect(toStop(walk, 2, at, [])).toBe(4);
    expect(toStop(walk, 4, at, [])).toBe(6);
    expect(toStop(walk, 4, at, [], true)).toBe(2);
    expect(toStop(walk, 2, at, [], true)).toBe(0);
  });

  it("finds its way among very many places to stop", () => {
    const count = 300_000;
    const long = { ...walk, line: Array<number>(count).fill(5) };
    const stops = long.line.map((_, i) => ({ steps: i + 1, condition: 0, thread: 8 }));
    expect(toStop(long, 7, new Set([5]), stops)).toBe(8);
    expect(toStop(long, 7, new Set([5]), stops, true)).toBe(6);
  });

  it("goes to where a register is written next", () => {
    expect(toChange(walk, 0, "%r1")).toBe(2);
    expect(toChange(walk, 2, "%r1")).toBe(4);
    expect(toChange(walk, 4, "%r1")).toBe(6);
  });

  it("holds wide warps", () => {
    const wide = { ...walk, width: 64, active: ["8000000000000001"] };
    expect([0, 1, 62, 63].map((t) => isActive(wide, 0, t))).toEqual([true, false, false, true]);
  });
});

const stopsAt = (...texts: string[]): [number, number, number][] =>
  stopsOf(
    walk,
    texts.map((text) => parseCondition(text, walk)),
  ).map((s) => [s.steps, s.condition, s.thread]);

describe("conditions to stop at", () => {
  it("are met where a register is written so", () => {
    expect(stopsAt("%r0 == 7")).toEqual([[1, 0, 8]]);
    expect(stopsAt("%r0 written")).toEqual([
      [1, 0, 8],
      [5, 0, 8],
    ]);
    expect(stopsAt("%r0>7")).toEqual([[5, 0, 8]]);
    expect(stopsAt("%r1 >= 4")).toEqual([[4, 0, 10]]);
  });

  it("are met where a value changes, of one thread or any that ran", () => {
    expect(stopsAt("%r0 changes")).toEqual([
      [1, 0, 8],
      [5, 0, 8],
    ]);
    expect(stopsAt("thread 9: %r0 changes")).toEqual([[1, 0, 9]]);
    expect(stopsAt("thread 9 : %r0 written")).toEqual([[1, 0, 9]]); // step 4 was thread 8's alone
    expect(stopsAt("thread 11: %r1 == 5")).toEqual([[4, 0, 11]]);
  });

  it("are met where memory is stored to, by other warps too", () => {
    expect(stopsAt("data0[0] written")).toEqual([[6, 0, 8]]);
    expect(stopsAt("data0[0] changes")).toEqual([]);
    expect(stopsAt("data0[1] changes")).toEqual([[6, 0, 8]]);
    expect(stopsAt("data0[2] == inf")).toEqual([[6, 0, 9]]);
    expect(stopsAt("thread 8: data0[2] == inf")).toEqual([]);
    expect(stopsAt("data0[3] < 4", "shared[22] == 7")).toEqual([[6, 1, 3]]);
    expect(stopsAt("shared[24] written")).toEqual([]);
  });

  it("stop the stepping, forwards and back, as lines do", () => {
    const stops = stopsOf(walk, [parseCondition("%r0 written", walk)]);
    const lines = new Set([4]);
    const way = [0];
    while (way.at(-1)! < 6) way.push(toStop(walk, way.at(-1)!, lines, stops));
    expect(way).toEqual([0, 1, 3, 5, 6]);
    expect(toStop(walk, 5, lines, stops, true)).toBe(3);
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
