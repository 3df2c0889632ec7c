/** Whether steps are right, and kernels as a whole: what is known of them. */

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
  /** Kernels that were asked for as a whole, in the order of their numbers. */
  kernels: WholeKernel[];
  /** What the pass left undone that it guarantees, in words; "" for nothing. */
  undone: string[];
  /** How many steps of the program's passes were not checked. */
  missing: number;
  /** How many kernels of the program were not run as a whole. */
  unrun: number;
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
  undone: Undone | null;
  /** Why it was not looked at what this pass and those after it guarantee; "" where it was. */
  unseen: string;
  whole: boolean;
}

/** A kernel as a whole: its final text, run and held against the reference of its AST. */
export interface WholeKernel {
  /** The number of its context. */
  kernel: number;
  /** unknown: it was not run. */
  state: "equal" | "rounding" | "differs" | "unknown";
  /** Where its text ran; "" for nowhere. */
  device: string;
  /** On how many sets of arguments. */
  sets: number;
  /** The largest error, in units of the last place. */
  ulps: number;
  /** What is wrong where no step is: "rendering ptx"; "rule NAME in PASS" or "pass PASS", by bisect;
   * "passes" for one of these that is not known; "" for neither is known. */
  place: string;
  /** Of a text that differs: the arguments for which it does, in words. */
  inputs: string;
  /** The same: the first wrong element. */
  outcome: {
    output: number | null;
    index: number | null;
    coordinates: number[] | null;
    got: number | null;
    wanted: number | null;
    said: string;
  } | null;
  /** Why it was not run; of one that was, which sets of arguments were left out, and why. */
  why: string;
}

/** A pass guarantees what it `says`: `node` is the first for which that does not hold. */
export interface Undone {
  pass: string;
  says: string;
  node: number;
  text: string;
  /** Of the user's program; "" where it is not known. */
  line: string;
  /** The same as a sentence. */
  said: string;
  /** What made the node so; "" where no rule is to blame. */
  rule: string;
}

/** With the last graph of the pass: after this rewrite, and its name. */
export interface UndoneAt extends Undone {
  rewrite: number;
  name: string;
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

/** The result of a job that checks: what is known of the passes and kernels that it was asked for. */
export interface CheckDone {
  passes: number;
  counts: Record<Verdict["kind"], number>;
  kernels: Record<WholeKernel["state"], number>;
}
