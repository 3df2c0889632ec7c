import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeHistory, type Lineages } from "../src/data/lineage";
import { traceEvents, type TraceEvent } from "../src/data/traceEvents";
import type { Lineage } from "../src/data/messages/lineage";
import type { RuleTotals } from "../src/data/messages/rule";
import type { ThreadTrack, TimelineData } from "../src/data/messages/timeline";
import { foldHistory, neighbour, standing } from "../src/panels/inspector/history/folded";
import { scopeRow } from "../src/panels/inspector/history/scope";
import {
  type Choice,
  knowsTries,
  listRules,
  meanOf,
  passesOf,
  shareOf,
  whyNever,
} from "../src/panels/rules/data/costs";
import { factText } from "../src/parts/source/facts";
import { arrange } from "../src/panels/timeline/data/arrange";
import {
  entryPick,
  launchPick,
  namePick,
  pickedName,
  resolve,
} from "../src/panels/timeline/data/pick";
import {
  around,
  bounded,
  panned,
  ticks,
  timeText,
  zoomed,
} from "../src/panels/timeline/data/scale";
import {
  above,
  lanesOf,
  pieces,
  spanAt,
  totals,
  type SpanRow,
} from "../src/panels/timeline/data/spans";
import { nextOrder, sorted } from "../src/ui/SortHead";
import { ago } from "../src/parts/traces/ago";
import { recordedText } from "../src/ui/code/recorded";
import { slotOfNode } from "../src/model/slots";
import { Timeline } from "../src/model/timeline";
import { bundleFor, rows, rules } from "./dev/fixture";
import { random } from "./dev/maker";

interface Shared {
  timeline: TimelineData;
  events: { traceEvents: TraceEvent[]; displayTimeUnit: string };
  lineages: Record<string, Lineage>;
  scopes: { tidy: number; lower: number };
  rewrites: { tidy: number; lower: number };
  back: { rows: unknown[] };
  forward: { rows: unknown[] };
}

/** What tests/viz/views/test_views.py makes: the commands and the page must say the same. */
const shared = JSON.parse(
  readFileSync(new URL("./data/views.json", import.meta.url), "utf8"),
) as Shared;

const SEED = 7;

/** Many spans of one thread and level, some of no length. */
function crowd(n: number): { data: TimelineData; row: SpanRow } {
  const rnd = random(SEED);
  const track: ThreadTrack = {
    kind: "thread",
    name: "main thread",
    process: 0,
    pid: 1,
    thread: 1,
    start: [],
    level: [],
    us: [],
    names: [],
    kinds: [],
    id: [],
    steps: [],
    failed: [],
  };
  let at = 0;
  let last = 0;
  for (let i = 0; i < n; i++) {
    at += Math.floor(rnd() * 40);
    const us = rnd() < 0.2 ? 0 : Math.floor(rnd() * 30);
    track.start.push(at - last);
    last = at;
    track.level.push(0);
    track.us.push(us);
    track.names.push(i % 5);
    track.kinds.push(2);
    track.id.push(i + 1);
    track.steps.push(1);
    at += us;
  }
  const data: TimelineData = {
    version: 1,
    end: at,
    names: ["a", "b", "c", "d", "e"],
    tracks: [track],
    truncated: null,
  };
  return { data, row: lanesOf(data)[0]!.rows[0]! };
}

describe("trace events", () => {
  it("are those of the command", () => {
    expect(traceEvents(shared.timeline, "a.py")).toEqual(shared.events);
  });

  it("are in the format that Perfetto reads", () => {
    const { data } = crowd(100);
    const made = JSON.parse(JSON.stringify(traceEvents(data, "x"))) as typeof shared.events;
    expect(made.displayTimeUnit).toBe("ms");
    for (const e of [...made.traceEvents, ...shared.events.traceEvents]) {
      expect(["X", "B", "C", "M"]).toContain(e.ph);
      expect(typeof e.name).toBe("string");
      expect(Number.isInteger(e.pid)).toBe(true);
      if (e.ph === "M") continue;
      expect(e.ts).toBeGreaterThanOrEqual(0);
      if (e.ph === "X") expect(e.dur).toBeGreaterThanOrEqual(0);
      if (e.ph !== "C") expect(Number.isInteger(e.tid)).toBe(true);
    }
    const spans = made.traceEvents.filter((e) => e.ph === "X");
    expect(spans).toHaveLength(100);
    const total = (events: TraceEvent[]): number => events.reduce((n, e) => n + (e.dur ?? 0), 0);
    expect(total(spans)).toBe((data.tracks[0] as ThreadTrack).us.reduce((a, b) => a + b, 0));
  });
});

describe("spans of a timeline", () => {
  it("show every span at every zoom, on no more pieces than pixels", () => {
    const { data, row } = crowd(20_000);
    for (const [from, to, width] of [
      [0, data.end, 900],
      [0, data.end / 50, 1400],
      [data.end / 3, data.end / 3 + 400, 700],
    ] as const) {
      const seen = new Set<number>();
      let made = 0;
      let right = -1;
      pieces(row, from, to, width, (x0, x1, first, last, share) => {
        made += 1;
        expect(x0).toBeGreaterThanOrEqual(0);
        expect(x1).toBeLessThanOrEqual(width + 1);
        expect(x0).toBeGreaterThanOrEqual(right - 2);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
        right = x0;
        for (let i = first; i <= last; i++) seen.add(i);
      });
      expect(made).toBeLessThanOrEqual(width + 2);
      for (let i = 0; i < row.start.length; i++)
        expect(seen.has(i), `seed ${SEED}, span ${i}`).toBe(
          row.end[i]! >= from && row.start[i]! <= to,
        );
    }
  });

  it("draw half a million spans in the time of a frame", () => {
    const { data, row } = crowd(500_000);
    const began = performance.now();
    for (let i = 0; i < 20; i++) pieces(row, 0, data.end, 1600, () => undefined);
    expect((performance.now() - began) / 20).toBeLessThan(16);
  });

  it("are found by a click, and near one", () => {
    const { row } = crowd(500);
    for (let i = 0; i < 500; i++) {
      const middle = (row.start[i]! + row.end[i]!) / 2;
      expect(row.start[spanAt(row, middle, 0)]).toBeLessThanOrEqual(middle);
    }
    expect(spanAt(row, -100, 5)).toBe(-1);
    expect(spanAt(row, row.start[0]! - 3, 5)).toBe(0);
    expect(above(row.start, -1)).toBe(0);
  });

  it("add up by name over what begins in view", () => {
    const { data, row } = crowd(1000);
    const all = totals([row], 0, data.end);
    expect(all.map((t) => t.count).reduce((a, b) => a + b)).toBe(1000);
    expect(all.reduce((n, t) => n + t.total, 0)).toBe(row.busy[1000]);
    const [first] = totals([row], row.start[3]!, row.start[3]!);
    expect(first!.count).toBeGreaterThan(0);
  });

  it("stand in labelled tracks, launches by kernel when opened", () => {
    const lanes = lanesOf(shared.timeline);
    const closed = arrange(shared.timeline, lanes, "all", new Set());
    expect(closed.map((s) => s.label)).toEqual([
      "Main thread",
      "thread 2",
      "CPU",
      "GPU",
      "CPU memory",
    ]);
    for (const [i, s] of closed.entries())
      if (i) expect(s.top).toBe(closed[i - 1]!.top + closed[i - 1]!.height);
    const opened = arrange(shared.timeline, lanes, "run", new Set([2]));
    expect(opened.map((s) => [s.label, s.note])).toEqual([
      ["CPU", "2 launches"],
      ["kernel a", "4.50 µs"],
      ["GPU", "1 launch"],
    ]);
    const schedule = arrange(shared.timeline, lanes, "schedule", new Set());
    expect(schedule).toHaveLength(1);
    expect(schedule[0]!.rows.map((r) => r.row.start.length)).toEqual([1, 1]);
    expect(closed.at(-1)!.memory!.peak).toBe(1024);
  });

  it("are named in an address and found again", () => {
    const d = shared.timeline;
    expect(resolve(d, entryPick(shared.rewrites.tidy))).toMatchObject({
      name: "tidy",
      hue: "pass",
      span: [150, 200],
      steps: 1,
    });
    expect(resolve(d, launchPick(2, 1))).toMatchObject({
      span: [420, 422],
      bytes: 64,
      entry: null,
    });
    expect(resolve(d, entryPick(5))).toMatchObject({ open: true, span: [290, 500] });
    for (const bad of [null, "e999", "l9.0", "l2.99", "l4.0", "zz"])
      expect(resolve(d, bad)).toBeNull();
    expect(pickedName(namePick("r_32: x"))).toBe("r_32: x");
  });
});

describe("time scale", () => {
  it("zooms around the pointer and stays in the run", () => {
    const [from, to] = zoomed([0, 1000], 2, 250, 1000);
    expect((250 - from) / (to - from)).toBeCloseTo(0.25);
    expect(to - from).toBeCloseTo(500);
    expect(panned([0, 100], -50, 1000)).toEqual([0, 100]);
    expect(panned([900, 1000], 50, 1000)).toEqual([900, 1000]);
    expect(bounded([5, 5], 1000)[1]).toBeGreaterThan(5);
    expect(zoomed([0, 1000], 0.1, 10, 1000)).toEqual([0, 1000]);
    const shown = around([400, 500], 1000);
    expect(shown[0]).toBeLessThan(400);
    expect(shown[1]).toBeGreaterThan(500);
  });

  it("has round ticks, and times as precise as these", () => {
    expect(ticks([0, 1000], 1000, 100)).toEqual([
      0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000,
    ]);
    expect(ticks([0.1, 0.9], 500, 100).length).toBeGreaterThan(2);
    expect(timeText(1_240_000, 10_000)).toBe("1.24 s");
    expect(timeText(620_000, 20_000)).toBe("620 ms");
    expect(timeText(2.5, 0.1)).toBe("2.5 µs");
  });
});

describe("history across passes", () => {
  const all: Lineages = new Map(Object.entries(shared.lineages).map(([k, v]) => [Number(k), v]));

  it("is that of the server, back and forth", () => {
    const { scopes, rewrites } = shared;
    const back = nodeHistory(all, scopes.lower, rewrites.lower, 1);
    expect(back!.rows).toEqual(shared.back.rows);
    const forward = nodeHistory(all, scopes.tidy, rewrites.tidy, 3);
    expect(forward!.rows).toEqual(shared.forward.rows);
    expect(forward!.needs).toBeNull();
  });

  it("asks for what it lacks and goes on without what cannot be had", () => {
    const { scopes, rewrites } = shared;
    const own = new Map([[scopes.lower, all.get(scopes.lower)!]]);
    expect(nodeHistory(own, scopes.lower, rewrites.lower, 1)!.needs).toBe(scopes.tidy);
    const without: Lineages = new Map([...own, [scopes.tidy, null]]);
    expect(nodeHistory(without, scopes.lower, rewrites.lower, 1)!.needs).toBeNull();
    expect(nodeHistory(new Map(), 1, 1, 1)).toBeNull();
    expect(nodeHistory(all, scopes.tidy, rewrites.tidy, 77)!.rows).toEqual([]);
  });

  it("folds neighbouring rebuilds and says where the reader stands", () => {
    const row = (kind: "input" | "became" | "rebuilt", rewrite: number, step: number) => ({
      kind,
      rewrite,
      step,
      rule: -1,
      node: step,
      op: "ADD",
      line: "",
    });
    const folded = foldHistory([
      row("input", 1, 0),
      row("rebuilt", 1, 2),
      row("rebuilt", 1, 3),
      row("rebuilt", 2, 1),
      row("became", 2, 5),
    ]);
    expect(folded.map((f) => f.rebuilds)).toEqual([0, 2, 1, 0]);
    expect(standing(folded, 2, 4, (r) => r)).toBe(2);
    expect(standing(folded, 1, 0, (r) => r)).toBe(0);
    const walk = (here: number, way: 1 | -1, pass: number, step: number): unknown => {
      const found = neighbour(folded, here, way, pass, step)?.row;
      return found && [found.rewrite, found.step];
    };
    expect(walk(2, 1, 2, 1)).toEqual([2, 5]);
    expect(walk(2, -1, 2, 1)).toEqual([1, 3]);
    expect(walk(2, -1, 2, 4)).toEqual([2, 1]); // between two events: back to the one before
    expect(walk(3, 1, 2, 5)).toBeUndefined();
    expect(walk(0, -1, 1, 0)).toBeUndefined();
  });

  it("belongs to the innermost schedule or kernel", () => {
    for (const row of rows.filter((r) => r.kind === "rewrite")) {
      const scope = rows.find((r) => r.id === scopeRow(rows, row) && r.kind === "context");
      expect(["schedule", "kernel"]).toContain(scope?.label);
    }
  });

  it("finds the slot of a node", () => {
    const pass = rows.find((r) => r.kind === "rewrite" && r.steps > 3)!;
    const b = bundleFor(pass.id, pass);
    const t = new Timeline(b);
    const { slot, node } = b.initial;
    for (const [i, s] of slot.entries())
      expect(t.versionAt(slotOfNode(t, b.nodes.id[node[i]!]!, 0)!, 0)).toBe(t.versionAt(s, 0));
    expect(slotOfNode(t, 1e9, 0)).toBeNull();
  });
});

describe("rules by cost", () => {
  const totalsOf = (...rows: RuleTotals["rows"]): RuleTotals => ({ rows, counted: 1, steps: 1 });
  const line = (id: number, pass: string, us: number): RuleTotals["rows"][number] => ({
    id,
    pass,
    rule: `rule_${id}`,
    tries: 10,
    matches: 2,
    declines: 1,
    us,
    added: 3,
    removed: 4,
  });
  const totals = totalsOf(line(0, "fold", 10), line(0, "lower", 5), line(1, "fold", 8));

  it("have the time of all tries, also where they never matched", () => {
    const all = { perPass: false, pass: null, never: false, query: "" };
    const told: RuleTotals = {
      ...totalsOf({ ...line(0, "fold", 10), tryUs: 30 }, { ...line(0, "lower", 5), tryUs: 7 }),
      silent: [{ pass: "fold", id: [1, 2], tries: [9, 9], us: [12, 0] }],
    };
    const found = listRules(told, new Map(), all).map((c) => [c.id, c.us, c.tryUs]);
    expect(found).toEqual([
      [0, 15, 37],
      [1, null, 12],
    ]);
    expect(listRules(totals, new Map(), all).map((c) => c.tryUs)).toEqual([null, null]);
  });

  it("are joined over passes, or kept apart", () => {
    const known = new Map(rules.map((r) => [r.id, r]));
    const all = { perPass: false, pass: null, never: false, query: "" };
    const joined = listRules(totals, known, all);
    expect(joined.map((c) => [c.rule, c.pass, c.matches, c.us, c.added])).toEqual([
      ["rule_0", "2 passes", 4, 15, 6],
      ["rule_1", "fold", 2, 8, 3],
    ]);
    expect(meanOf(joined[0]!)).toBe(3.75);
    expect(listRules(totals, known, { ...all, perPass: true })).toHaveLength(3);
    expect(
      listRules(totals, known, { ...all, perPass: true, query: "LOWER" }).map((c) => c.key),
    ).toEqual(["0.lower"]);
    expect(listRules(totals, known, { ...all, query: "nothing like it" })).toEqual([]);
  });

  it("say how often each was tried, of a pass or of all, and which never matched", () => {
    const known = new Map(rules.map((r) => [r.id, r]));
    const all = { perPass: false, pass: null, never: false, query: "" };
    const told: RuleTotals = {
      ...totals,
      silent: [
        { pass: "lower", id: [1, 2], tries: [5, 7] },
        { pass: "fold", id: [2, 3], tries: [1, 0] },
      ],
    };
    const tries = (choice: Partial<Choice>): [string, number | null][] =>
      listRules(told, known, { ...all, ...choice }).map((c) => [c.key, c.tries]);
    expect(tries({})).toEqual([
      ["0", 20],
      ["1", 15],
    ]);
    expect(tries({ pass: "fold" })).toEqual([
      ["0", 10],
      ["1", 10],
    ]);
    expect(tries({ never: true })).toEqual([
      ["2", 8],
      ["3", 0],
    ]);
    expect(tries({ never: true, pass: "lower" })).toEqual([
      ["1", 5],
      ["2", 7],
    ]);
    expect(tries({ never: true, perPass: true })).toHaveLength(4);
    expect(passesOf(told)).toEqual(["fold", "lower"]);
    const [never, untried] = listRules(told, known, { ...all, never: true });
    expect(whyNever(never!)).toContain("matched none of them");
    expect(whyNever(untried!)).toContain("no node");
    expect(whyNever({ ...never!, declines: 3 })).toContain("declined");
    expect(shareOf({ ...never!, matches: 2 })).toBe(0.25);
  });

  it("have no time where nothing matched, and a line for the time outside matches", () => {
    const all = { perPass: false, pass: null, never: false, query: "" };
    const silent = { ...line(2, "fold", 0), matches: 0, tries: 4000 };
    const untimed = {
      us: 70,
      passes: [
        { pass: "fold", us: 50 },
        { pass: "lower", us: 20 },
      ],
    };
    const told = { ...totalsOf(...totals.rows, silent), untimed };
    const times = (choice: Partial<Choice>): [string, number | null][] =>
      listRules(told, new Map(), { ...all, ...choice }).map((c) => [c.key, c.us]);
    expect(times({})).toEqual([
      ["0", 15],
      ["1", 8],
      ["2", null],
      ["rest.2 passes", 70],
    ]);
    expect(times({ pass: "fold" }).at(-1)).toEqual(["rest.fold", 50]);
    expect(times({ perPass: true }).slice(-2)).toEqual([
      ["rest.fold", 50],
      ["rest.lower", 20],
    ]);
    expect(times({ never: true })).toEqual([["2", null]]);
    expect(times({ query: "rule" })).toHaveLength(3);
    expect(times({ query: "rest" })).toEqual([]);
  });

  it("say nothing of tries that an older trace has not", () => {
    const old = totalsOf(...totals.rows.map((t) => ({ ...t, tries: null })));
    const all = { perPass: false, pass: null, never: false, query: "" };
    expect(knowsTries(old)).toBe(false);
    expect(knowsTries(totals)).toBe(true);
    const [first] = listRules(old, new Map(), all);
    expect(first!.tries).toBeNull();
    expect(shareOf(first!)).toBeNull();
    expect(whyNever({ ...first!, matches: 0 })).toBe("");
    expect(listRules(old, new Map(), { ...all, never: true })).toEqual([]);
  });

  it("sort by any column, both ways, and keep ties in order", () => {
    const columns = [
      { key: "n", name: "N", value: (x: { n: number; t: string }) => x.n },
      { key: "t", name: "T", value: (x: { n: number; t: string }) => x.t },
    ];
    const items = [
      { n: 2, t: "b" },
      { n: 1, t: "c" },
      { n: 2, t: "a" },
    ];
    expect(sorted(items, columns, "-n").map((x) => x.t)).toEqual(["b", "a", "c"]);
    expect(sorted(items, columns, "t").map((x) => x.t)).toEqual(["a", "b", "c"]);
    expect(sorted(items, columns, "nope")).toBe(items);
    expect(nextOrder("-us", "us", true)).toBe("us");
    expect(nextOrder("-us", "rule", false)).toBe("rule");
  });
});

describe("small texts", () => {
  it("of compilers read like sentences", () => {
    const fact = (name: string, value: string): string => factText({ name, value });
    expect(fact("registers", "24")).toBe("24 regs");
    expect(fact("registers", "1")).toBe("1 reg");
    expect(fact("vgprs", "24")).toBe("24 VGPRs");
    expect(fact("spill stores", "0")).toBe("0 spill stores");
    expect(fact("occupancy", "100%")).toBe("100% occupancy");
    expect(fact("occupancy", "8 of 8 waves")).toBe("8 of 8 waves");
    expect(fact("regs", "24 registers")).toBe("24 registers");
  });

  it("of times ago", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(ago("2026-01-01T23:48:00Z", now)).toBe("12 minutes ago");
    expect(ago("2025-12-30T00:00:00Z", now)).toBe("3 days ago");
    expect(ago("nonsense", now)).toBe("");
  });

  it("of rules are found by any of their lines", () => {
    const rule = rules[0]!;
    expect(recordedText(rules, rule.file, rule.sourceLine)?.first).toBe(rule.sourceLine);
    expect(recordedText(rules, rule.file, rule.sourceLine + 900)).toBeNull();
    expect(recordedText(rules, "elsewhere.py", rule.line)).toBeNull();
    const own = {
      file: "mine.py",
      cut: false,
      parts: [{ first: 7, lines: ["a = 1", "b = a"] }],
      kernels: [],
    };
    expect(recordedText([], "mine.py", 8, [own])?.first).toBe(7);
    expect(recordedText([], "mine.py", 8, [own])?.what).toBe("your program");
    expect(recordedText([], "mine.py", 9, [own])).toBeNull();
  });
});
