import { describe, expect, it } from "vitest";
import type { Walk } from "../src/data/messages/emulation";
import {
  isActive,
  nextLine,
  registersAfter,
  storedBy,
  toBreakpoint,
  toChange,
} from "../src/panels/emulator/walk";

const walk: Walk = {
  block: 0,
  warp: 0,
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
  memory: [[5, "global", "data0", [0, 4, null, null], 4]],
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
    expect(storedBy(walk, 6)).toEqual([
      { space: "global", argument: "data0", at: [0, 4, null, null], bytes: 4 },
    ]);
  });

  it("knows the line that comes next, and who runs it", () => {
    expect([0, 2, 6].map((at) => nextLine(walk, at))).toEqual([3, 5, 0]);
    expect([0, 1, 2, 3].map((t) => isActive(walk, 2, t))).toEqual([true, true, false, false]);
    expect(isActive(walk, 6, 0)).toBe(false);
  });

  it("goes to breakpoints, forwards and back, else to the ends", () => {
    const at = new Set([5]);
    expect(toBreakpoint(walk, 0, at)).toBe(2);
    expect(toBreakpoint(walk, 2, at)).toBe(4);
    expect(toBreakpoint(walk, 4, at)).toBe(6);
    expect(toBreakpoint(walk, 4, at, true)).toBe(2);
    expect(toBreakpoint(walk, 2, at, true)).toBe(0);
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
