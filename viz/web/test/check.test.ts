import { describe, expect, it } from "vitest";
import type { Row } from "../src/data/messages/run";
import type { Checks, Verdict, WholeKernel } from "../src/data/messages/trials/verdicts";
import {
  briefWords,
  countsWords,
  KINDS,
  knownByPass,
  markOfRun,
  markOfStep,
  marksOf,
  markWords,
  signOf,
  SIGNS,
  worstWords,
} from "../src/parts/check/marks";
import { ranWords, wholeWords } from "../src/parts/check/wholes";

const row = (at: number, parent: number, kind: Row["kind"], steps: number, target = ""): Row =>
  ({ row: at, id: at + 100, parent, kind, steps, target }) as Row;

/** A kernel with a pass, which has one inside it, one without steps, and what was compiled of it. */
const ROWS = [
  row(0, -1, "context", 6),
  row(1, 0, "rewrite", 4),
  row(2, 1, "rewrite", 2),
  row(3, 0, "rewrite", 0),
  row(4, 0, "context", 9, "sm_90"),
  row(5, 4, "rewrite", 9),
];

function checks(of: [number, Partial<Record<string, number>>, boolean?][], missing = 0): Checks {
  const column = (kind: string): number[] => of.map(([, counts]) => counts[kind] ?? 0);
  return {
    rewrite: of.map(([id]) => id),
    ...{ proved: column("proved"), sampled: column("sampled"), assumes: column("assumes") },
    ...{ unchecked: column("unchecked"), differs: column("differs") },
    ...{ whole: of.map(([, , whole = true]) => whole), differing: of.map(() => []) },
    ...{ undone: of.map(() => ""), kernels: [], missing, unrun: 0, problem: "", hint: "" },
  };
}

const NONE: ReadonlySet<number> = new Set();
const marks = (found: Checks | null, wrong = NONE) =>
  marksOf(ROWS, knownByPass(found), wrong, new Map());
const signs = (found: Checks | null, wrong = NONE): (string | null)[] =>
  marks(found, wrong).map((mark) => mark?.sign ?? null);
const UNKNOWN = ["unchecked", "unchecked", "unchecked", null, "unchecked", "unchecked"];

describe("marks of rows", () => {
  it("say of everything with steps that it was not checked, before anything is", () => {
    expect(signs(checks([]))).toEqual(UNKNOWN);
    expect(marks(checks([])).map((mark) => mark && markWords(mark))[0]).toBe("not checked");
  });

  it("show a pass that left something undone, whatever its steps are, and what it is in", () => {
    const found = checks([[101, { proved: 4 }], [102, { proved: 2 }], [103, {}]]); // prettier-ignore
    const left = { ...found, undone: ["", "", "pass x left y undone"] };
    expect(signs(found)[0]).toBe("proved");
    expect(signs(left)).toEqual(["differs", "proved", "proved", "differs", ...UNKNOWN.slice(4)]);
    expect(markWords(marks(left)[0]!)).toBe("1 pass left something undone, 6 proved");
    expect(markOfRun(left)!.sign).toBe("differs");
  });

  it("never show a kernel as whole of which a pass, or a part of one, was not checked", () => {
    const one = checks([[102, { proved: 2 }]]);
    expect(signs(one)).toEqual([...UNKNOWN.slice(0, 2), "proved", ...UNKNOWN.slice(3)]);
    expect(markWords(marks(one)[0]!)).toBe("4 not checked, 2 proved");
    expect(worstWords(marks(one)[0]!)).toBe("4 not checked");
    const part = checks([[101, { proved: 3 }, false], [102, { proved: 2 }]]); // prettier-ignore
    expect(signs(part)[0]).toBe("unchecked");
    expect(markWords(marks(part)[0]!)).toBe("1 not checked, 5 proved");
  });

  it("never show samples as a proof", () => {
    const all = checks([
      [101, { sampled: 1, proved: 3 }],
      [102, { proved: 2 }],
    ]);
    expect(signs(all).slice(0, 3)).toEqual(["sampled", "sampled", "proved"]);
    expect(markWords(marks(all)[0]!)).toBe("1 sampled, 5 proved");
    const green = KINDS.filter((kind) => SIGNS[signOf(kind)].tint === "add");
    expect(green).toEqual(["proved"]);
    expect(new Set(Object.values(SIGNS).map(({ mark }) => mark)).size).toBe(4);
  });

  it("count what runs inside, but not what was compiled on request", () => {
    const all = checks([
      [101, { proved: 4 }],
      [102, { proved: 2 }],
    ]);
    expect(signs(all)).toEqual(["proved", "proved", "proved", null, "unchecked", "unchecked"]);
    expect(markWords(marks(all)[0]!)).toBe("proved");
  });

  it("show the worst", () => {
    const worst = (counts: Partial<Record<string, number>>): (string | null)[] =>
      signs(checks([[101, { proved: 3 }], [102, counts]])); // prettier-ignore
    expect(worst({ assumes: 1, proved: 1 })[0]).toBe("sampled");
    expect(worst({ assumes: 1, unchecked: 1 })[0]).toBe("unchecked");
    expect(worst({ differs: 1, unchecked: 1 }).slice(0, 3)).toEqual(Array(3).fill("differs"));
  });

  it("show what differs also where the rest is not known", () => {
    const part = checks([[102, { differs: 1 }, false]]);
    expect(signs(part).slice(0, 3)).toEqual(["differs", "differs", "differs"]);
    expect(markWords(marks(part)[0]!)).toBe("1 step differs, 5 not checked");
    const most = checks([[101, { differs: 1, proved: 3 }]]);
    expect(briefWords(marks(most)[0]!)).toBe("1 step differs, 2 not checked");
    expect(markWords(marks(most)[0]!)).toBe("1 step differs, 2 not checked, 3 proved");
  });

  it("show a kernel whose result is wrong, whatever is known of its steps", () => {
    const found = marks(checks([]), new Set([100]));
    expect(found.map((mark) => mark?.sign ?? null).slice(0, 2)).toEqual(["differs", "unchecked"]);
    expect(markWords(found[0]!)).toBe("1 result differs, not checked");
  });

  it("are told in words, the worst first", () => {
    const counts = { proved: 1200, sampled: 1, assumes: 0, unchecked: 0, differs: 2 };
    expect(countsWords(counts)).toBe("2 steps differ, 1 sampled, 1,200 proved");
  });
});

describe("the mark of a run", () => {
  it("is not whole while a step is missing", () => {
    expect(markOfRun(checks([]))).toBeNull();
    expect(markOfRun(checks([[101, { proved: 4 }]]))?.sign).toBe("proved");
    expect(markOfRun(checks([[101, { proved: 4 }]], 2))?.sign).toBe("unchecked");
    expect(markOfRun(checks([[101, { differs: 1 }]], 2))?.sign).toBe("differs");
  });
});

const whole = (state: WholeKernel["state"], more: Partial<WholeKernel> = {}): WholeKernel => ({
  ...{ kernel: 100, state, device: "PTX:EMU", sets: 12, ulps: 0, place: "", inputs: "", why: "" },
  outcome: null,
  ...more,
});

describe("a kernel as a whole", () => {
  const KERNEL: readonly Row[] = [{ ...ROWS[0]!, label: "kernel" }, ...ROWS.slice(1)];
  const proved = checks([
    [101, { proved: 4 }],
    [102, { proved: 2 }],
  ]);
  const of = (one: WholeKernel | null, found = proved) =>
    marksOf(KERNEL, knownByPass(found), NONE, new Map(one ? [[100, one]] : []))[0]!;

  it("is not right without having been run, whatever its steps are", () => {
    expect(of(null).sign).toBe("unchecked");
    expect(markWords(of(null))).toBe("1 kernel not run, 6 proved");
    expect(of(whole("unknown")).sign).toBe("unchecked");
    expect([of(null), of(whole("unknown"))].map((mark) => mark.whole.unasked)).toEqual([1, 0]);
    for (const state of ["equal", "rounding"] as const) {
      expect(of(whole(state)).sign).toBe("proved");
      expect(markWords(of(whole(state)))).toBe("proved");
    }
    expect(markWords(of(null, checks([])))).toBe("not checked");
  });

  it("differs where its text does, though all of its steps are proved", () => {
    const mark = of(whole("differs"));
    expect(mark.sign).toBe("differs");
    expect(markWords(mark)).toBe("1 text differs from its program, 6 proved");
    expect(briefWords(mark)).toBe("1 text differs from its program");
    expect(worstWords(mark)).toBe("1 text differs from its program");
    expect(marksOf(KERNEL, knownByPass(proved), NONE, new Map([[100, whole("differs")]]))[1]!.sign)
      .toBe("proved"); // prettier-ignore
  });

  it("is a consequence where a step differs", () => {
    const found = checks([[101, { differs: 1, proved: 3 }], [102, { proved: 2 }]]); // prettier-ignore
    expect(markWords(of(whole("differs"), found))).toBe("1 step differs, 5 proved");
  });

  it("counts in the run", () => {
    const run = { ...proved, kernels: [whole("differs"), whole("unknown")], unrun: 3 };
    expect(markOfRun(run)).toMatchObject({
      sign: "differs",
      whole: { texts: 1, unrun: 3, unasked: 2 },
    });
    expect(markOfRun({ ...proved, unrun: 1 })?.sign).toBe("unchecked");
    expect(markOfRun({ ...proved, kernels: [whole("equal")] })?.sign).toBe("proved");
  });

  it("is said in a sentence", () => {
    expect(wholeWords(whole("equal"), false)).toBe(
      "As a whole: on 12 sets of arguments on PTX:EMU, its text computes what its program does.",
    );
    expect(wholeWords(whole("rounding", { ulps: 3 }), false)).toContain(
      "but for rounding, at most 3 ulps.",
    );
    expect(wholeWords(whole("unknown", { why: "it is too large" }), false)).toBe(
      "Not run as a whole: it is too large.",
    );
    const outcome = { output: 0, index: 0, coordinates: [0], got: 0, wanted: 1, said: "data0 is off" }; // prettier-ignore
    const wrong = whole("differs", { place: "rendering ptx", inputs: "corner values", outcome });
    expect(wholeWords(wrong, false)).toBe(
      "Its text, run on PTX:EMU, differs from its program, and no step of it is known to: the rendering ptx is wrong. On corner values: data0 is off.",
    );
    expect(wholeWords(wrong, true)).toContain("differs from its program, as a step of it does.");
    const named = { ...wrong, place: "rule add_zero in simplify" };
    expect(wholeWords(named, false)).toContain("bisect names rule add_zero in simplify");
    expect(wholeWords({ ...wrong, place: "passes" }, false)).toContain("program is wrong already");
  });

  it("is counted", () => {
    expect(ranWords({ equal: 40, rounding: 18, differs: 1, unknown: 0 })).toBe(
      "1 kernel differs, 18 equal but for rounding, 40 equal",
    );
    expect(ranWords({ equal: 0, rounding: 0, differs: 0, unknown: 0 })).toBe("");
  });
});

describe("the mark of a step", () => {
  it("is one of the four", () => {
    const of = (kind: Verdict["kind"]): string => markOfStep({ kind, how: "" }).sign;
    expect(KINDS.map(of)).toEqual(["differs", "unchecked", "sampled", "sampled", "proved"]);
    expect(markOfStep(undefined).sign).toBe("unchecked");
  });
});
