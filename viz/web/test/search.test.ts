import { beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../src/data/messages/run";
import type { SearchHit, SearchResult } from "../src/data/messages/search";
import { findInRun } from "../src/parts/search/find";
import { rows, rules } from "../src/state/state";
import { rules as fixture } from "./dev/fixture";

const row = (at: number, more: Partial<Row>): Row => ({
  row: at,
  parent: -1,
  kind: "context",
  id: at + 1,
  name: `row ${at}`,
  label: "kernel",
  steps: 3,
  declines: 0,
  ms: 1,
  nodes: 0,
  status: "ok",
  caller: "",
  calls: "",
  ...more,
});

const hit = (at: number, kind: SearchHit["kind"], text: string): SearchHit => ({
  row: at,
  kind,
  text,
  step: null,
  node: null,
  passes: 1,
  source: null,
});

const names = (query: string, inside: SearchResult | null = null): string[] =>
  findInRun(query, inside).map((g) => `${g.name}: ${g.hits.map((h) => h.title).join(", ")}`);

beforeEach(() => {
  rules.value = new Map(fixture.map((rule) => [rule.id, rule]));
  rows.value = [
    row(0, { name: "r_32_shl", calls: "relu" }),
    row(1, { kind: "rewrite", label: "pass", parent: 0, name: "symbolic" }),
    row(2, { kind: "rewrite", label: "pass", parent: 0, name: "decompose shl" }),
  ];
});

describe("the search of the run", () => {
  it("finds names at once, and what is inside passes when the trace answers", () => {
    expect(names("shl")).toEqual(["Kernels: r_32_shl", "Passes: decompose shl"]);
    const inside = {
      hits: [
        hit(0, "call", "relu at a/b/model.py:4"),
        hit(1, "op", "SHL"),
        hit(9, "op", "of another run"),
      ],
      totals: { call: 1, op: 7 },
      total: 8,
      truncated: null,
      problem: null,
    };
    expect(names("shl", inside)).toEqual([
      "Kernels: r_32_shl",
      "Passes: decompose shl",
      "Calls: relu at model.py:4",
      "Passes with an op: SHL",
    ]);
  });

  it("keeps what was compiled on request apart, so that it changes no other group", () => {
    const own = rows.value;
    const node = { ...hit(1, "node", "SHL(a, b)"), step: 0, node: 7 };
    const alone = { hits: [node], totals: { node: 1 }, total: 1, truncated: null, problem: null };
    const before = names("shl", alone);
    rows.value = [
      ...own,
      row(3, { parent: 0, name: "r_32_shl", target: "sm_90" }),
      row(4, { kind: "rewrite", label: "pass", parent: 3, name: "decompose shl" }),
    ];
    const both = {
      ...alone,
      hits: [node, hit(4, "pass", "decompose shl"), { ...node, row: 4 }],
      totals: { node: 1, compiled: 2 },
      total: 3,
    };
    expect(names("shl", both)).toEqual([
      ...before,
      "Compiled for others: decompose shl, SHL(a, b)",
    ]);
  });

  it("finds rules by name and file, and nothing for nothing", () => {
    const rule = fixture[0]!;
    expect(names(rule.name)[0]).toMatch(`Rules: ${rule.name}`);
    expect(findInRun("  ", null)).toEqual([]);
    expect(findInRun("no such thing", null)).toEqual([]);
  });

  it("says how many hits of a group it leaves out", () => {
    rows.value = Array.from({ length: 500 }, (_, i) => row(i, { name: `kernel ${i}` }));
    const [group] = findInRun("kernel", null);
    expect(group!.total).toBe(500);
    expect(group!.hits.length).toBeLessThan(500);
  });
});
