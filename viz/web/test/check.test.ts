import { describe, expect, it } from "vitest";
import type { Checks } from "../src/data/messages/trials/verdicts";
import type { Row } from "../src/data/messages/run";
import { countsWords, knownByPass, marksOf } from "../src/parts/check/marks";

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

function checks(of: [number, Partial<Record<string, number>>, boolean?][]): Checks {
  const column = (kind: string): number[] => of.map(([, counts]) => counts[kind] ?? 0);
  return {
    rewrite: of.map(([id]) => id),
    ...{ proved: column("proved"), sampled: column("sampled"), assumes: column("assumes") },
    ...{ unchecked: column("unchecked"), differs: column("differs") },
    ...{ whole: of.map(([, , whole = true]) => whole), differing: of.map(() => []) },
    ...{ problem: "", hint: "" },
  };
}

const signs = (found: Checks | null): (string | null)[] => {
  const { rows, run } = marksOf(ROWS, knownByPass(found));
  return [...rows, run].map((mark) => mark?.sign ?? null);
};

describe("marks of rows", () => {
  it("are nowhere before anything is checked", () => {
    expect(signs(null)).toEqual([null]);
    expect(signs(checks([]))).toEqual([null]);
  });

  it("say nothing of a kernel of which a pass was not checked", () => {
    const one = checks([[102, { proved: 2 }]]);
    expect(signs(one)).toEqual([null, null, "right", null, null, null, null]);
  });

  it("count what runs inside, but not what was compiled on request", () => {
    const all = checks([
      [101, { sampled: 4 }],
      [102, { proved: 2 }],
    ]);
    expect(signs(all)).toEqual(["right", "right", "right", null, null, null, "right"]);
  });

  it("show the worst", () => {
    const worst = (counts: Partial<Record<string, number>>): (string | null)[] =>
      signs(checks([[101, { proved: 3 }], [102, counts]])); // prettier-ignore
    expect(worst({ assumes: 1, proved: 1 })[0]).toBe("assumes");
    expect(worst({ assumes: 1, unchecked: 1 })[6]).toBe("unchecked");
    expect(worst({ differs: 1, unchecked: 1 }).slice(0, 3)).toEqual(Array(3).fill("differs"));
  });

  it("show what differs also where the rest is not known", () => {
    const part = checks([[102, { differs: 1 }, false]]);
    const found = signs(part);
    expect(found.slice(0, 3)).toEqual(["differs", "differs", "differs"]);
    expect(found.slice(3)).toEqual([null, null, null, "differs"]);
  });

  it("are told in words, the worst first", () => {
    const counts = { proved: 1200, sampled: 1, assumes: 0, unchecked: 0, differs: 2 };
    expect(countsWords(counts)).toBe("2 steps differ, 1 holds for all samples, 1,200 proved");
  });
});
