import { describe, expect, it } from "vitest";
import { childrenOf } from "../src/data/rows";
import type { Row } from "../src/data/messages/run";
import {
  foldTree,
  rowKey,
  stepLines,
  type FoldInput,
  type Line,
} from "../src/panels/navigator/fold";
import { visibleRange } from "../src/ui/visibleRange";

const row = (
  at: number,
  parent: number,
  kind: Row["kind"],
  steps: number,
  more: Partial<Row> = {},
): Row => ({
  row: at,
  parent,
  kind,
  id: 100 + at,
  name: `n${at}`,
  label: "pass",
  steps,
  declines: 0,
  ms: 1,
  nodes: 3,
  status: "ok",
  caller: "",
  calls: "",
  ...more,
});
/** A kernel with five passes, two of which changed nothing and one of which failed. */
const rows = [
  row(0, -1, "context", 9),
  row(1, 0, "rewrite", 4),
  row(2, 0, "rewrite", 0),
  row(3, 0, "rewrite", 5),
  row(4, 0, "rewrite", 0),
  row(5, 0, "rewrite", 0, { status: "error" }),
];
const input = (more: Partial<FoldInput>): FoldInput => ({
  rows,
  children: childrenOf(rows),
  root: -1,
  open: new Set([rowKey(0)]),
  changedOnly: true,
  current: null,
  steps: [],
  step: 0,
  filtered: false,
  ...more,
});
const names = (lines: Line[]): string[] =>
  lines.map((l) =>
    l.kind === "row" ? `row ${l.row}` : l.kind === "step" ? `step ${l.step}` : l.kind,
  );
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

describe("tree folding", () => {
  it("shows the rewrites that the rules of a pass made below it, and never folds them away", () => {
    const nested = [
      row(0, -1, "context", 9),
      row(1, 0, "rewrite", 0), // nothing of its own, but what is inside it changed something
      row(2, 1, "rewrite", 3),
      row(3, 0, "rewrite", 0),
    ];
    const more = { rows: nested, children: childrenOf(nested) };
    expect(names(foldTree(input(more)))).toEqual(["row 0", "row 1", "unchanged"]);
    const open = new Set([0, 1, 2].map(rowKey));
    const steps = upTo(3);
    expect(names(foldTree(input({ ...more, open, current: 102, steps, step: 1 })))).toEqual([
      "row 0",
      "row 1",
      "row 2",
      "step 1",
      "step 2",
      "step 3",
      "unchanged",
    ]);
  });

  it("shows only the root while it is folded", () => {
    expect(names(foldTree(input({ open: new Set() })))).toEqual(["row 0"]);
  });

  it("folds finished passes without a match into one line with their number, never a failure", () => {
    const lines = foldTree(input({}));
    expect(names(lines)).toEqual(["row 0", "row 1", "row 3", "row 5", "unchanged"]);
    expect(lines.at(-1)).toMatchObject({ count: 2, open: false });
  });

  it("shows rows that are nested very deep", () => {
    const deep = Array.from({ length: 50_000 }, (_, i) => row(i, i - 1, "context", 1));
    deep.push(row(50_000, 49_999, "rewrite", 0));
    const given = {
      rows: deep,
      children: childrenOf(deep),
      open: new Set(deep.map((r) => rowKey(r.row))),
    };
    expect(foldTree(input(given))).toHaveLength(50_001);
    const passes = deep.map((r) => ({ ...r, kind: "rewrite" as const, steps: 0 }));
    expect(names(foldTree(input({ rows: passes, children: childrenOf(passes) })))).toEqual([
      "unchanged",
    ]);
  });

  it("shows all passes in order when asked to", () => {
    expect(names(foldTree(input({ changedOnly: false })))).toEqual([
      "row 0",
      "row 1",
      "row 2",
      "row 3",
      "row 4",
      "row 5",
    ]);
  });

  it("never folds the pass that is looked at", () => {
    expect(names(foldTree(input({ current: 102 })))).toContain("row 2");
  });

  it("every row is shown or counted, whatever is open", () => {
    for (const open of [[], ["r0"], ["r0", "u0"]]) {
      const lines = foldTree(input({ open: new Set(open) }));
      const shown = lines.filter((l) => l.kind === "row").length;
      const folded = lines.reduce(
        (n, l) => n + (l.kind === "unchanged" && !l.open ? l.count : 0),
        0,
      );
      expect(shown + folded).toBe(open.length ? rows.length : 1);
    }
  });

  it("puts the steps below the open current pass", () => {
    const lines = foldTree(
      input({ current: 103, open: new Set(["r0", "r3"]), steps: upTo(5), step: 2 }),
    );
    expect(names(lines)).toEqual([
      "row 0",
      "row 1",
      "row 3",
      ...upTo(5).map((k) => `step ${k}`),
      "row 5",
      "unchanged",
    ]);
  });
});

describe("steps", () => {
  it("keeps the page while the reader steps in it, and counts the rest", () => {
    const at = (step: number) => stepLines(input({ steps: upTo(92), step }), 1);
    expect(at(41)).toEqual(at(48));
    expect(names(at(41))).toEqual(["more", ...upTo(8).map((k) => `step ${40 + k}`), "more"]);
    const more = at(41).filter((l) => l.kind === "more");
    expect(more.map((l) => l.count)).toEqual([40, 44]);
    expect(more.map((l) => l.to)).toEqual([40, 49]);
    expect(names(at(0))[0]).toBe("step 1");
    expect(names(at(92)).at(-1)).toBe("step 92");
  });

  it("shows filtered steps with the number of rules between them", () => {
    const lines = stepLines(input({ steps: [3, 4, 9], step: 4, filtered: true }), 1);
    expect(names(lines)).toEqual(["gap", "step 3", "step 4", "gap", "step 9"]);
    expect(lines[0]).toMatchObject({ count: 2, first: 1 });
    expect(lines[3]).toMatchObject({ count: 4, first: 5 });
  });

  it("says so when no step passes", () => {
    expect(names(stepLines(input({ filtered: true }), 1))).toEqual(["none"]);
    expect(stepLines(input({}), 1)).toEqual([]);
  });
});

describe("visible range", () => {
  it("covers the window with some to spare, within the list", () => {
    expect(visibleRange(0, 240, 24, 1000, 2)).toEqual({ from: 0, to: 12 });
    expect(visibleRange(2400, 240, 24, 1000, 2)).toEqual({ from: 98, to: 112 });
    expect(visibleRange(99999, 240, 24, 10, 2)).toEqual({ from: 4164, to: 4164 });
    expect(visibleRange(0, 0, 24, 0)).toEqual({ from: 0, to: 0 });
  });
});
