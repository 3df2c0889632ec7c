import { describe, expect, it } from "vitest";
import { rulePageOf } from "../src/data/offline/rulePage";
import type { Pat, PatternFit, Rule, RuleAtNode, RulesAtNode } from "../src/data/messages/rule";
import type { Row } from "../src/data/messages/run";
import { placeOfNode } from "../src/model/slots";
import { Timeline } from "../src/model/timeline";
import { nearestPass } from "../src/parts/kernel/nearestPass";
import { layoutPattern } from "../src/parts/rule/patternLayout";
import { sentence } from "../src/panels/inspector/why/answer/words";
import { capital } from "../src/state/format";
import { choicesFor, signOf, wordsAt } from "../src/panels/inspector/why/data/choices";
import { whyLink } from "../src/panels/inspector/why/data/link";
import { chooser, type Nodes, partsOf, pathWords } from "../src/panels/inspector/why/data/parts";
import { summary } from "../src/panels/inspector/why/NearList";
import { largestPass, matchedPasses, sumsOf } from "../src/panels/rules/page/places";
import { Query } from "../src/state/link/query";
import { readView } from "../src/state/link/view";
import { bundleFor, rows as devRows } from "./dev/fixture";

const any: Pat = { op: [], dtype: [], name: null, arg: null, src: { kind: "any" } };
const pat = (change: Partial<Pat>, ...of: Pat[]): Pat => ({
  ...any,
  ...change,
  src: change.src ?? (of.length ? { kind: "ordered", of } : any.src),
});
const rule = (id: number, name: string): Rule => ({
  ...{ id, name, equation: "", doc: "", group: "", file: "a/rules.py", line: id, source: "" },
  ...{ sourceLine: id, pattern: any, matches: 0, declines: 0, us: 0 },
});
const row = (change: Partial<RuleAtNode>): RuleAtNode => ({
  ...{ rule: 1, name: "r", kind: "pattern", fits: false, fitted: 0, expected: "", found: "" },
  by: null,
  ...change,
});
const fit = (change: Partial<PatternFit>): PatternFit => ({
  ...{ fits: false, installed: true, why: null, binds: [], fitted: [], misfit: null },
  ...change,
});
const misfit = (path: number[], node: number): PatternFit["misfit"] => ({
  ...{ kind: "op", path, node, text: "", expected: "A", found: "B" },
});

/** A graph in which node n has the op "On" and these sources. */
const graph = (sources: Record<number, number[]>): Nodes => ({
  opOf: (n) => (n in sources ? `O${n}` : ""),
  titleOf: (n) => `O${n}`,
  sourcesOf: (n) => sources[n] ?? [],
});

describe("the rules that can be asked about", () => {
  const at = (rows: RuleAtNode[], known = true): RulesAtNode => ({
    ...{ rewrite: 1, pass: "p", node: 5, text: "ADD", known, rows, leftOut: null },
  });
  const rules = new Map([1, 2, 3, 4].map((id) => [id, rule(id, `rule_${id}`)]));

  it("are those near at the node, then the rest of the pass, then all others", () => {
    const rows = [row({ rule: 2, fits: true, kind: "declined" }), row({ rule: 3, fitted: 2 })];
    const groups = choicesFor(at([...rows, row({ rule: 1 })]), new Set(), rules, "");
    expect(groups.map((g) => [g.name, g.items.map((c) => c.rule)])).toEqual([
      ["Near at this node", [2, 3]],
      ["Other rules of this pass", [1]],
      ["Rules of other passes", [4]],
    ]);
  });

  it("are those that matched first, where no node is selected or the pass is not known", () => {
    for (const here of [null, at([], false)])
      expect(choicesFor(here, new Set([3]), rules, "").map((g) => g.items.length)).toEqual([1, 3]);
  });

  it("are found by parts of names; a long list says how many it leaves out", () => {
    expect(choicesFor(null, new Set(), rules, "RULE_2").flatMap((g) => g.items)).toHaveLength(1);
    expect(choicesFor(null, new Set(), rules, "nothing")).toEqual([]);
    const many = new Map(Array.from({ length: 300 }, (_, i) => [i, rule(i, `r${i}`)]));
    const [group] = choicesFor(null, new Set(), many, "");
    expect([group!.items.length, group!.left]).toEqual([200, 100]);
  });

  it("say in few words what became of them", () => {
    const by = { rewrite: 1, pass: "p", step: 1200, rule: 3, name: "first" };
    const long = "bool or uint8 or uint16 or 5 more";
    expect(wordsAt(row({ kind: "fired", by }))).toBe("fired at step 1,200");
    expect(wordsAt(row({ kind: "overtaken", by }))).toBe("fits; first came first");
    expect(wordsAt(row({ expected: "ADD", found: "MUL" }))).toBe("wants ADD");
    expect(wordsAt(row({ expected: long, found: "x", fitted: 1 }))).toBe(
      "expected bool or 7 more, found x",
    );
    expect(wordsAt(row({ kind: "not reached" }))).toBe("the node was not reached");
    expect(wordsAt(row({ kind: "unknown", fits: true }))).toContain("not known whether");
    const kinds = ["fired", "pattern", "declined", "raised", "overtaken", "unknown"] as const;
    expect(kinds.map(signOf)).toEqual(["fits", "fails", "said no", "said no", "other", "none"]);
  });
});

describe("the parts of a pattern", () => {
  const x = pat({ name: "x" });
  const states = (pattern: Pat, of: PatternFit, nodes = graph({ 1: [2, 3], 2: [4], 3: [] })) =>
    partsOf(pattern, of, 1, nodes).map((p) => [p.path, p.state, p.node]);

  it("fit, fail, or are not looked at", () => {
    const pattern = pat({ op: ["O1"] }, pat({ op: ["O2"] }, x), pat({ op: ["O9"] }, x));
    const fitted = [[], [0], [0, 0]].map((path, i) => ({ path, node: [1, 2, 4][i]! }));
    expect(states(pattern, fit({ fitted, misfit: misfit([1], 3) }))).toEqual([
      ["", "fits", 1],
      ["0", "fits", 2],
      ["0.0", "fits", 4],
      ["1", "fails", 3],
      ["1.0", "unreached", null],
    ]);
  });

  it("of a pattern that fits are found along its sources, and by their names", () => {
    const ordered = pat({ op: ["O1"] }, pat({ op: ["O2"] }, any), x);
    expect(states(ordered, fit({ fits: true })).map((p) => p[2])).toEqual([1, 2, 4, 3]);
    const either = pat({ src: { kind: "permuted", of: [x, any] } });
    const binds = [{ name: "x", node: 3, text: "" }];
    expect(states(either, fit({ fits: true, binds })).map((p) => p[2])).toEqual([1, 3, null]);
  });

  it("that repeat are one part for all sources", () => {
    const all = pat({ src: { kind: "repeat", of: pat({ op: ["O2"] }) } });
    const fitted = [
      { path: [], node: 1 },
      { path: [0], node: 2 },
    ];
    expect(states(all, fit({ fitted, misfit: misfit([1], 3) }))).toEqual([
      ["", "fits", 1],
      ["0", "fails", 3],
    ]);
  });

  it("with alternatives are the one that has the op of the node", () => {
    const two = { ...any, anyOf: [pat({ op: ["O7"] }), pat({ op: ["O1"] }, x)] };
    const found = fit({ fitted: [{ path: [], node: 1 }], misfit: misfit([0], 2) });
    expect(states(two, found)).toEqual([
      ["", "fits", 1],
      ["0", "fails", 2],
    ]);
    const drawn = layoutPattern(two, chooser(found, 1, graph({ 1: [2] })));
    expect(drawn.nodes.map((n) => n.path)).toEqual(["", "0"]);
    expect(layoutPattern(two).nodes.map((n) => n.text)).toEqual(["one of 2"]);
    const none = fit({ misfit: misfit([], 9) });
    expect(partsOf(two, none, 9, graph({})).map((p) => p.state)).toEqual(["fails"]);
  });

  it("of a hostile pattern come to an end", () => {
    let deep = any;
    for (let i = 0; i < 500; i++) deep = pat({ anyOf: [deep] }, deep);
    const wide = pat({}, ...Array.from({ length: 5000 }, () => any));
    for (const hostile of [deep, wide])
      expect(partsOf(hostile, fit({ fits: true }), 1, graph({ 1: [1] })).length).toBeLessThan(61);
  });

  it("are named from the node down", () => {
    expect(pathWords([])).toBe("the node itself");
    expect(pathWords([1, 0])).toBe("source 0 of source 1");
  });
});

it("a link to a question is checked", () => {
  const read = (hash: string): unknown => {
    whyLink.read(new Query(hash));
    return whyLink.peek();
  };
  expect(read("#tab=why&why=12&near=1")).toEqual({ rule: 12, near: true });
  expect(read("#why=-1&near=yes")).toEqual({ rule: null, near: false });
  expect(readView(new Query("#tab=why")).tab).toBe("why");
  expect(readView(new Query("#tab=else")).tab).toBe("step");
});

it("sentences begin and end as sentences do, names of rules stay", () => {
  expect(sentence("the pattern of x does not fit")).toBe("The pattern of x does not fit.");
  expect(sentence("add_zero did fire!")).toBe("add_zero did fire!");
  expect(sentence("u5 was gone")).toBe("u5 was gone.");
  expect(capital("")).toBe("");
});

it("near misses are summed up", () => {
  const near = {
    rewrite: 1,
    pass: "p",
    rule: 1,
    name: "r",
    inPass: true,
    rulesKnown: true,
    known: true,
    nodes: 9,
    fits: [],
  };
  const none = { ...near, tried: 0, fitting: 0, missed: 0, rows: [], leftOut: null };
  expect(summary(none)).toMatch(/^No node of this pass/);
  expect(summary({ ...none, tried: 1, missed: 1 })).toContain("no part of it fits");
  expect(
    summary({ ...none, tried: 3, fitting: 2, known: false, inPass: false, rulesKnown: false }),
  ).toMatch(
    /3 nodes of this pass have .* fits 2 of them\. It is not known to be a rule of this pass\./,
  );
});

describe("passes", () => {
  const line = (change: Partial<Row>): Row => ({
    ...{ row: 0, parent: -1, kind: "rewrite", id: 0, name: "", label: "pass", steps: 0 },
    ...{ declines: 0, ms: 0, nodes: 0, status: "ok", caller: "", calls: "" },
    ...change,
  });
  const kernel = (at: number): Row =>
    line({ row: at, kind: "context", label: "kernel", id: at, name: `k${at}` });
  const rows = [
    kernel(0),
    line({ row: 1, parent: 0, id: 11, name: "lower", steps: 3, nodes: 5 }),
    kernel(2),
    line({ row: 3, parent: 2, id: 13, name: "lower", nodes: 9 }),
    line({ row: 4, parent: 2, id: 14, name: "views", steps: 1 }),
  ];

  it("of a name are those around the reader first", () => {
    expect(nearestPass(rows, "lower", 4)?.id).toBe(13);
    expect(nearestPass(rows, "views", 1)?.id).toBe(14);
    expect(nearestPass(rows, "lower", -1)?.id).toBe(11);
    expect(nearestPass(rows, "none", 1)).toBeUndefined();
  });

  it("in which a rule matched are in the order of the run", () => {
    const totals = {
      rows: [
        { pass: "lower", id: 7, rule: "r", tries: 5, matches: 2, declines: 1, us: 3 },
        { pass: "views", id: 8, rule: "s", tries: 1, matches: 1, declines: 0, us: 1 },
      ].map((one) => ({ ...one, added: 0, removed: 0 })),
      silent: [{ pass: "views", id: [6, 7], tries: [1, 4] }],
      ...{ counted: 1, steps: 1 },
    };
    const matches = { rule: [7, 7, 8], rewrite: [13, 11, 14], matches: [1, 1, 1] };
    const page = rulePageOf(7, [rule(7, "r")], totals, { ...matches, leftOut: 0, done: true })!;
    expect(page.passes.map((p) => [p.pass, p.tries, p.matches])).toEqual([
      ["lower", 5, 2],
      ["views", 4, 0],
    ]);
    expect(sumsOf(page)).toEqual({ tries: 9, matches: 2, declines: 1, tryUs: null, us: 3 });
    const found = matchedPasses({ ...page, rewrite: [13, 11, 99] }, rows);
    expect(found.map((p) => [p.row.id, p.where])).toEqual([
      [11, "k0"],
      [13, "k2"],
    ]);
    expect(largestPass(rows, "lower")?.id).toBe(13);
    expect(rulePageOf(5, [], totals, { ...matches, leftOut: 0, done: true })).toBeNull();
  });
});

it("a node is found at the nearest step that has it", () => {
  const pass = devRows.find((r) => r.kind === "rewrite" && r.steps > 3)!;
  const b = bundleFor(pass.id, pass);
  const t = new Timeline(b);
  const first = b.steps[0]!;
  const before = b.nodes.id[first.before]!;
  expect(placeOfNode(t, before, b.steps.length)).toEqual({ slot: first.slot, step: 0 });
  expect(placeOfNode(t, before, 0)?.step).toBe(0);
  expect(placeOfNode(t, -5, 0)).toBeNull();
});
