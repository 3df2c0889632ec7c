/** What is known of passes and steps, as marks and in words. Pure. */
import type { Checks, Verdict } from "../../data/messages/trials/verdicts";
import type { Row } from "../../data/messages/run";
import { count, plural } from "../../state/format";

export type Kind = Verdict["kind"];
/** The worst first. */
export const KINDS = ["differs", "unchecked", "assumes", "sampled", "proved"] as const;
export type Counts = Record<Kind, number>;

/** What a mark says, and how it is drawn. */
export type Sign = "right" | "assumes" | "unchecked" | "differs";
export const SIGNS: Record<Sign, { mark: string; tint: string; word: string }> = {
  right: { mark: "✓", tint: "add", word: "right" },
  assumes: { mark: "~", tint: "mov", word: "right under what is assumed" },
  unchecked: { mark: "?", tint: "plain", word: "not all checkable" },
  differs: { mark: "≠", tint: "del", word: "a step differs" },
};

export const signOf = (kind: Kind): Sign =>
  kind === "proved" || kind === "sampled" ? "right" : kind;

export interface Mark {
  sign: Sign;
  counts: Counts;
}

const nothing = (): Counts => ({ differs: 0, unchecked: 0, assumes: 0, sampled: 0, proved: 0 });

/** How many steps of a pass have each kind of verdict, and whether all of them were checked. */
export interface Known {
  counts: Counts;
  whole: boolean;
}

/** What is known of each pass, by its number. */
export function knownByPass(checks: Checks | null): ReadonlyMap<number, Known> {
  if (!checks) return new Map();
  return new Map(
    checks.rewrite.map((rewrite, i) => {
      const counts = nothing();
      for (const kind of KINDS) counts[kind] = checks[kind][i] ?? 0;
      return [rewrite, { counts, whole: checks.whole[i] ?? false }];
    }),
  );
}

/**
 * The mark of each row, with what ran inside it, and that of the whole run: a step that differs
 * counts at once, anything else once all steps were checked. What was compiled on request is no part
 * of its kernel.
 */
export function marksOf(
  rows: readonly Row[],
  known: ReadonlyMap<number, Known>,
): { rows: readonly (Mark | null)[]; run: Mark | null } {
  if (!known.size) return { rows: [], run: null };
  const counts = rows.map(nothing);
  const missing = new Array<boolean>(rows.length).fill(false);
  const all = { counts: nothing(), missing: false };
  const marks: (Mark | null)[] = [];
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]!;
    const own = counts[at]!;
    if (row.kind === "rewrite" && row.steps > 0) {
      const found = known.get(row.id);
      if (found) add(own, found.counts);
      if (!found?.whole) missing[at] = true;
    }
    marks[at] = markOf(own, missing[at]!);
    if (row.target) continue;
    const above = row.parent;
    if (above >= 0 && above < at) {
      add(counts[above]!, own);
      missing[above] ||= missing[at]!;
    } else if (above < 0) {
      add(all.counts, own);
      all.missing ||= missing[at]!;
    }
  }
  return { rows: marks, run: markOf(all.counts, all.missing) };
}

function add(to: Counts, more: Counts): void {
  for (const kind of KINDS) to[kind] += more[kind];
}

function markOf(counts: Counts, isMissing: boolean): Mark | null {
  const worst = KINDS.find((kind) => counts[kind] > 0);
  if (worst === undefined || (isMissing && worst !== "differs")) return null;
  return { sign: signOf(worst), counts };
}

const WORDS: Record<Kind, (n: number) => string> = {
  differs: (n) => `${plural(n, "step")} ${n === 1 ? "differs" : "differ"}`,
  unchecked: (n) => `${count(n)} not checkable`,
  assumes: (n) => `${count(n)} under what is assumed`,
  sampled: (n) => `${count(n)} ${n === 1 ? "holds" : "hold"} for all samples`,
  proved: (n) => `${count(n)} proved`,
};

/** "1 step differs, 12 proved" */
export const countsWords = (counts: Counts): string =>
  KINDS.filter((kind) => counts[kind] > 0)
    .map((kind) => WORDS[kind](counts[kind]))
    .join(", ");

/** The word for a verdict. */
export const KIND_WORDS: Record<Kind, string> = {
  differs: "differs",
  unchecked: "not checkable",
  assumes: "under what is assumed",
  sampled: "holds for all samples",
  proved: "proved",
};
