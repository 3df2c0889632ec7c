/** Which step is wrong: what made the result of a kernel differ from the reference. */
import type { ApiProblem } from "../job";
import type { UndoneAt, Verdict } from "./verdicts";
import type { RuleChange, VariantSaid } from "./whatif";

export interface Bisection {
  version: 1;
  kernel: KernelNamed;
  variant: VariantSaid;
  /** Of the program, or on the device; null: it cannot be run. */
  outcome: Outcome | null;
  wrong: boolean;
  /** `step`: after which the graph broke its rules, or whose function raised; null: not known, or
   * no step but what the pass left undone. */
  failed: { pass: string; error: ApiProblem; step: WrongStep | null } | null;
  culprit: WrongStep | null;
  device: string | null;
  /** States that were run. */
  asked: number;
  notes: string[];
  /** Numbers as `uopviz show` takes them; null: the trace has no such step. */
  inTrace: { rewrite: number; step: number } | null;
  changed: RuleChange[];
}

export interface WrongStep {
  pass: string;
  /** null: code of the pass, or one of the candidates. */
  match: {
    rule: { name: string; file: string; line: number; equation: string };
    rewrite: string;
    /** Which rewrite of that name with matches, from 1. */
    occurrence: number;
    step: number;
    inside: boolean;
    before: string[];
    after: string[];
  } | null;
  candidates: string[];
  before: Outcome | null;
  after: Outcome | null;
  leftOut: boolean;
}

export interface KernelNamed {
  number: number;
  name: string;
  target: string;
}

export interface Outcome {
  equal: boolean;
  error: number;
  allowed: number;
  ulps: number;
  /** The first wrong element; null where there is none, or where it is not known. */
  output: number | null;
  index: number | null;
  coordinates: number[] | null;
  got: number | null;
  wanted: number | null;
  /** The access outside of memory that ended it, or "". */
  fault: string;
  said: string;
}

/** Which step of a whole run is wrong: what was tried, and what was found. */
export interface RunBisection {
  version: 1;
  variant: VariantSaid;
  wrong: boolean;
  /** Whether all that was tried could be judged. */
  told: boolean;
  kernels: TriedKernel[];
  /** Of the smallest kernels that are wrong: what is to blame. */
  found: Bisection[];
  /** Steps outside of kernels, and those of kernels that could not be judged: checked one by one. */
  steps: {
    passes: number;
    counts: Record<Verdict["kind"], number>;
    /** The first that differ. */
    differing: WrongPair[];
    /** What their passes left undone that they guarantee. */
    undone: UndoneAt[];
  };
  /** On what kernels were judged. */
  inputs: string;
  notes: string[];
  seconds: number;
  changed: RuleChange[];
}

export interface TriedKernel {
  number: number;
  name: string;
  target: string;
  /** `agrees`: with the reference, on the inputs that were tried; `fails`: to compile. */
  state: "agrees" | "differs" | "fails" | "unknown";
  said: string;
  /** Where it ran; null: the program was interpreted. */
  device: string | null;
}

/** A step whose two nodes do not mean the same. */
export interface WrongPair {
  rewrite: number;
  step: number;
  pass: string;
  rule: { name: string; file: string; line: number; equation: string };
  verdict: Verdict;
}
