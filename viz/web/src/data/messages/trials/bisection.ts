/** Which step broke it: what made the result of a kernel differ from the reference. */
import type { ApiProblem } from "../job";
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
