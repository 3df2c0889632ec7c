import { describe, expect, it } from "vitest";
import { ancestry, childrenOf, mergeRows, stepsInside } from "../src/data/rows";
import type { Row } from "../src/data/messages/run";

const row = (at: number, parent: number, more: Partial<Row> = {}): Row => ({
  row: at,
  parent,
  kind: "rewrite",
  id: at,
  name: `p${at}`,
  label: "pass",
  steps: 1,
  declines: 0,
  ms: 1,
  nodes: 3,
  status: "ok",
  caller: "",
  calls: "",
  ...more,
});

describe("rows", () => {
  it("appends, replaces what changed, and keeps the array when nothing did", () => {
    const known = [row(0, -1), row(1, 0)];
    expect(mergeRows(known, [row(1, 0)])).toBe(known);
    const merged = mergeRows(known, [row(0, -1, { steps: 9 }), row(2, 0)]);
    expect(merged.map((r) => r.steps)).toEqual([9, 1, 1]);
    expect(merged[1]).toBe(known[1]);
    expect(known[0]!.steps).toBe(1);
  });

  it("counts the steps of passes inside a pass, however deep, and survives a parent that comes later", () => {
    const rows = [
      row(0, -1, { steps: 2 }),
      row(1, 0, { steps: 0 }),
      row(2, 1, { steps: 7 }),
      row(3, 9),
      row(4, 4),
    ];
    expect(stepsInside(rows)).toEqual([7, 7, 0, 0, 0]);
  });

  it("gives children in order and the way up", () => {
    const all = [row(0, -1), row(1, 0), row(2, 1), row(3, 0)];
    const children = childrenOf(all);
    expect(children(-1)).toEqual([0]);
    expect(children(0)).toEqual([1, 3]);
    expect(children(2)).toEqual([]);
    expect(ancestry(all, 2).map((r) => r.row)).toEqual([2, 1, 0]);
  });

  it("survives a trace whose parents form a ring", () => {
    expect(ancestry([row(0, 1), row(1, 0)], 0).map((r) => r.row)).toEqual([0, 1]);
  });
});
