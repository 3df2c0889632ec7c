/** What is known of passes and steps, as marks and in words. A sample is no proof, and a part is not the
 * whole: neither ever looks like one. Pure. */
import type { Checks, Verdict, WholeKernel } from "../../data/messages/trials/verdicts";
import type { Row } from "../../data/messages/run";
import { count, plural } from "../../state/format";
import { kernelCount } from "../../state/state";

export type Kind = Verdict["kind"];
/** The worst first. */
export const KINDS = ["differs", "unchecked", "assumes", "sampled", "proved"] as const;
export type Counts = Record<Kind, number>;

/** The four states. `sampled` holds, though not for every value: for samples, or under what is assumed. */
export type Sign = "proved" | "sampled" | "unchecked" | "differs";
export const SIGNS: Record<Sign, { mark: string; tint: string }> = {
  proved: { mark: "✓", tint: "add" },
  sampled: { mark: "~", tint: "mov" },
  unchecked: { mark: "○", tint: "plain" },
  differs: { mark: "≠", tint: "del" },
};

/** The best first. */
const ORDER: readonly Sign[] = ["proved", "sampled", "unchecked", "differs"];
/** Marks in order, the worst last. */
export const rankOf = (mark: Mark): number => ORDER.indexOf(mark.sign);

export const signOf = (kind: Kind): Sign => (kind === "assumes" ? "sampled" : kind);

/** The worst of some steps. */
export interface Mark {
  sign: Sign;
  counts: Counts;
  /** Steps that were not checked. */
  missing: number;
  /** Kernels whose result was found to differ from the reference. */
  wrong: number;
  whole: Whole;
  /** Passes that left something undone that they guarantee. */
  undone: number;
}

/** Kernels as a whole. */
export interface Whole {
  /** Whose text differs from its program, though no step of it is known to. */
  texts: number;
  /** That were not run. */
  unrun: number;
  /** Of these, those that were not asked for. */
  unasked: number;
}

const noWhole = (): Whole => ({ texts: 0, unrun: 0, unasked: 0 });

const nothing = (): Counts => ({ differs: 0, unchecked: 0, assumes: 0, sampled: 0, proved: 0 });

/** How many steps of a pass have each kind of verdict, and whether all of them were checked. */
export interface Known {
  counts: Counts;
  whole: boolean;
  /** What the pass left undone, in words; "" for nothing. */
  undone: string;
}

/** What is known of each pass, by its number. */
export function knownByPass(checks: Checks | null): ReadonlyMap<number, Known> {
  if (!checks) return new Map();
  return new Map(
    checks.rewrite.map((rewrite, i) => {
      const counts = nothing();
      for (const kind of KINDS) counts[kind] = checks[kind][i] ?? 0;
      const undone = checks.undone[i] ?? "";
      return [rewrite, { counts, whole: checks.whole[i] ?? false, undone }];
    }),
  );
}

/** The mark of each row, with what ran inside it; null where there is no step. What was compiled on
 * request is no part of its kernel. `wrong`: contexts of kernels whose result is wrong; `kernels`: those
 * that were asked for as a whole. */
export function marksOf(
  rows: readonly Row[],
  known: ReadonlyMap<number, Known>,
  wrong: ReadonlySet<number>,
  kernels: ReadonlyMap<number, WholeKernel>,
): readonly (Mark | null)[] {
  const counts = rows.map(nothing);
  const missing = new Array<number>(rows.length).fill(0);
  const results = rows.map((row) => Number(row.kind === "context" && wrong.has(row.id)));
  const wholes = rows.map((row) => (isKernel(row) ? wholeOf(kernels.get(row.id)) : noWhole()));
  const undone = rows.map((row) => Number(row.kind === "rewrite" && !!known.get(row.id)?.undone));
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]!;
    if (row.kind === "rewrite" && row.steps > 0) {
      const found = known.get(row.id);
      if (found) add(counts[at]!, found.counts);
      if (!found?.whole) missing[at]! += Math.max(1, row.steps - total(found?.counts));
    }
    if (isKernel(row) && counts[at]!.differs) wholes[at]!.texts = 0; // a consequence of that step
    const above = row.parent;
    if (row.target || above < 0 || above >= at) continue;
    add(counts[above]!, counts[at]!);
    missing[above]! += missing[at]!;
    results[above]! += results[at]!;
    addWhole(wholes[above]!, wholes[at]!);
    undone[above]! += undone[at]!;
  }
  return rows.map((_, at) =>
    markOf(counts[at]!, missing[at]!, results[at]!, wholes[at]!, undone[at]),
  );
}

const isKernel = (row: Row): boolean =>
  row.kind === "context" && row.label === "kernel" && !row.target;

function wholeOf(one: WholeKernel | undefined): Whole {
  const unrun = Number(!one || one.state === "unknown");
  return { texts: Number(one?.state === "differs"), unrun, unasked: Number(!one) };
}

function addWhole(to: Whole, more: Whole): void {
  to.texts += more.texts;
  to.unrun += more.unrun;
  to.unasked += more.unasked;
}

/** The mark of a run; null where it has no step. */
export function markOfRun(checks: Checks, wrong = 0): Mark | null {
  const counts = nothing();
  let undone = 0;
  for (const known of knownByPass(checks).values()) {
    add(counts, known.counts);
    undone += Number(known.undone !== "");
  }
  const texts = checks.kernels.filter((one) => one.state === "differs").length;
  const refused = checks.kernels.filter((one) => one.state === "unknown").length;
  const whole = { texts, unrun: checks.unrun, unasked: checks.unrun - refused };
  return markOf(counts, checks.missing, wrong, whole, undone);
}

/** The mark of one step. */
export const markOfStep = (verdict: Verdict | undefined): Mark =>
  markOf({ ...nothing(), ...(verdict && { [verdict.kind]: 1 }) }, verdict ? 0 : 1, 0, noWhole())!;

function add(to: Counts, more: Counts): void {
  for (const kind of KINDS) to[kind] += more[kind];
}

const total = (counts: Counts | undefined): number =>
  counts ? KINDS.reduce((sum, kind) => sum + counts[kind], 0) : 0;

function markOf(
  counts: Counts,
  missing: number,
  wrong: number,
  whole: Whole,
  undone = 0,
): Mark | null {
  const isWrong = wrong > 0 || whole.texts > 0 || undone > 0;
  const worst = isWrong ? "differs" : KINDS.find((kind) => counts[kind] > 0);
  if (worst === undefined && !missing) return null;
  const isPart = missing > 0 || whole.unrun > 0;
  const sign = isPart && worst !== "differs" ? "unchecked" : signOf(worst!);
  return { sign, counts, missing, wrong, whole, undone };
}

const WORDS: Record<Kind, (n: number) => string> = {
  differs: (n) => `${plural(n, "step")} ${n === 1 ? "differs" : "differ"}`,
  unchecked: (n) => `${count(n)} not checkable`,
  assumes: (n) => `${count(n)} under what is assumed`,
  sampled: (n) => `${count(n)} sampled`,
  proved: (n) => `${count(n)} proved`,
};

/** "1 step differs", "12 proved" */
const kinds = (counts: Counts): string[] =>
  KINDS.filter((kind) => counts[kind] > 0).map((kind) => WORDS[kind](counts[kind]));

/** "1 step differs, 12 proved" */
export const countsWords = (counts: Counts): string => kinds(counts).join(", ");

const textsWords = (n: number): string =>
  n === 1 ? "1 text differs from its program" : `${count(n)} texts differ from their programs`;

/** What a mark is made of, the worst first: "1 step differs", "12 not checked", "3 sampled". */
function said({ counts, missing, wrong, whole, undone }: Mark, isBrief = false): string[] {
  const words = kinds(counts);
  const rest = words.splice(counts.differs ? 1 : 0);
  if (undone) words.unshift(`${plural(undone, "pass", "passes")} left something undone`);
  if (wrong) words.unshift(`${plural(wrong, "result")} ${wrong === 1 ? "differs" : "differ"}`);
  if (whole.texts) words.push(textsWords(whole.texts));
  if (missing) words.push(total(counts) ? `${count(missing)} not checked` : "not checked");
  if (whole.unrun && total(counts)) words.push(`${kernelCount(whole.unrun)} not run`);
  const isProved = !words.length && counts.proved === total(counts);
  if (isProved) return ["proved"];
  return isBrief && (wrong || whole.texts || undone || counts.differs)
    ? words
    : [...words, ...rest];
}

/** All that a mark is made of; one word where that is one state. */
export const markWords = (mark: Mark): string => said(mark).join(", ");

/** The same; where something differs, that and what was not checked. */
export const briefWords = (mark: Mark): string => said(mark, true).join(", ");

/** The worst of it alone. */
export const worstWords = (mark: Mark): string => said(mark)[0]!;

/** The word for a verdict. */
export const KIND_WORDS: Record<Kind, string> = {
  differs: "differs",
  unchecked: "not checkable",
  assumes: "under what is assumed",
  sampled: "sampled",
  proved: "proved",
};

/** A verdict in a few words: how many samples it rests on. */
export const verdictWords = (v: Verdict): string =>
  v.kind === "sampled" && v.samples ? `sampled, ${plural(v.samples, "input")}` : KIND_WORDS[v.kind];
