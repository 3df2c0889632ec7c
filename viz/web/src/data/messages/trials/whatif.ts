/** Kernels compiled otherwise: variants that are kept, replays, rules that have changed. */
import type { ApiProblem } from "../job";
import type { Times } from "../compare";

/** In what a kernel is compiled otherwise. */
export interface VariantSpec {
  /** Names of rules that are left out. */
  skip: string[];
  /** So many matches, and none after; null: all. */
  stop_after: number | null;
  /** The pass where these two hold, "simplify#2" for the second of that name; "" for all. */
  inside: string;
  /** Optimisations as text, "" for none; null: those that the compiler chooses. */
  opts: string | null;
  /** "": that of the recording. */
  target: string;
}

/** A source text that is run in place of that of the program which the rest of its variant makes. */
export interface EditedText {
  kind: string;
  text: string;
  /** What runs it. */
  device: string;
}

export interface VariantSaid extends VariantSpec {
  /** null: the compiler's own text. */
  text: EditedText | null;
  /** The same in words. */
  said: string;
}

/** The same without the text itself. */
export interface VariantShown extends VariantSpec {
  /** Kind of the text that was edited; "" where none was. */
  edited: string;
  said: string;
}

/** An edited text of a variant, to edit it again. */
export interface VariantText extends EditedText {
  target: string;
  /** Of the program in whose place it runs. */
  opts: string | null;
  skip: string[];
}

/** A variant that was tried and is kept, as a row of the table. */
/** What came of a change that was compiled. */
export interface TriedVariant extends Pick<VariantRow, "error" | "outcome" | "times"> {
  /** null: it could not be kept. */
  kept: { number: number } | null;
}

export interface VariantRow {
  number: number;
  kernel: number;
  name: string;
  variant: VariantShown;
  /** null: it compiles. */
  error: ApiProblem | null;
  /** What ran it; null: it was not run. */
  device: string | null;
  outcome: { equal: boolean; said: string } | null;
  /** Of the variant over the recorded kernel; null: not timed. */
  times: Times | null;
  code: VariantCode | null;
  oldCode: VariantCode | null;
  /** Those that were applied; null: not known. */
  opts: string | null;
  notes: string[];
  /** Sentences: rules whose text was another one than in the trace. */
  changed: string[];
}

/** What machine code takes; null: no tool of this machine says it. */
export interface VariantCode {
  instructions: number | null;
  registers: number | null;
  lines: number | null;
  /** Kind of the text. */
  text: string;
}

/** A rule whose text is not the recorded one any more. */
export interface RuleChange {
  name: string;
  file: string;
  line: number;
  gone: boolean;
  /** "distribute changed, index.py:18" */
  said: string;
}

export interface ChangedRules {
  /** A word for the state of the files: another one after each change. */
  state: string;
  changed: RuleChange[];
}

/** A trace of a variant, opened as a run. */
export interface OpenedVariant {
  /** Letter of the run. */
  run: string;
  /** Number of the kernel there; null: it has none. */
  kernel: number | null;
}

/** Kernels that were compiled with the code on disk. */
export interface Replayed {
  version: 1;
  equal: boolean;
  changed: RuleChange[];
  kernels: ReplayedKernel[];
  notes: string[];
  /** Letter of the run that was recorded. */
  run: string;
}

export interface ReplayedKernel {
  number: number;
  name: string;
  target: string;
  state: "equal" | "changed" | "failed";
  error: ApiProblem | null;
  /** Its number in that run; null: nothing was recorded. */
  there: number | null;
}

/** A reproduction script of a smaller kernel. */
export interface SmallerScript {
  text: string;
  /** What was made smaller. */
  said: string;
}
