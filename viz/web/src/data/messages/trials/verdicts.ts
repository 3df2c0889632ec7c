/** Whether steps are right: what is known of passes, and of each of their steps. */

/** What is known of the run: a row for each pass of which steps were checked. */
export interface Checks {
  rewrite: number[];
  /** How many of its steps have each kind of verdict. */
  proved: number[];
  sampled: number[];
  assumes: number[];
  unchecked: number[];
  differs: number[];
  /** Whether all its steps were checked, and not those of some rules alone. */
  whole: boolean[];
  /** The first 1,000 steps that differ. */
  differing: number[][];
  /** How many steps of the program's passes were not checked. */
  missing: number;
  /** Why no step of this run can be checked; "" where they can. */
  problem: string;
  /** What would give better answers; "" for nothing. */
  hint: string;
}

/** What is known of the steps of one pass; nothing where it was not checked. */
export interface PassVerdicts {
  rewrite: number;
  /** (step, rule, which of the verdicts); steps count from 1. */
  steps: [number, number, number][];
  verdicts: Verdict[];
  /** Of these steps, those that replace an integer or a boolean. */
  integers: number[];
  whole: boolean;
}

export interface Verdict {
  /** See docs/check.md. */
  kind: "proved" | "sampled" | "assumes" | "differs" | "unchecked";
  how: string;
  samples?: number;
  /** The largest difference of floats, in units of the last place. */
  ulps?: number;
  /** Where it differs: the inputs, and both results. */
  values?: [string, string][];
  before?: string;
  after?: string;
  hint?: string;
}

/** The result of a job that checks: what is known of the passes that it was asked for. */
export interface CheckDone {
  passes: number;
  counts: Record<Verdict["kind"], number>;
}
