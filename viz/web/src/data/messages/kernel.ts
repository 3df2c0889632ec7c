/** A kernel: its texts, how it is run, what a run gave, also side by side with another program, and what
 * the machine can do. */
import type { ApiProblem } from "./job";

export interface Kernel {
  context: number;
  name: string;
  target: string;
  device: string;
  /** Node id of the kernel AST. */
  ast: number;
  tensorCalls: string[];
  artifacts: Artifact[];
  launches: { count: number; us: number[] };
  inputs: { name: string; dtype: string; size: number }[];
  flops: number;
  bytes: number;
  globalSize: number[];
  localSize: number[];
}

/** What was decided about a schedule outside of its passes, and where its nodes come from. */
export interface Schedule {
  context: number;
  artifacts: Artifact[];
  origins: Origins;
}

/** The name of a `Kind`, or what another compiler calls a text of its own. */
export type ArtifactKind = string;

/** One source text of a kernel for one target; or one text of a schedule, for none. */
export interface Artifact {
  kind: ArtifactKind;
  target: string;
  title: string;
  language: string;
  text: string;
  /** Per text line: trace node ids of the linear program behind it. */
  lines: number[][];
  /** Per text line: trace node ids of the kernel AST that it comes from. */
  origins: number[][];
  facts: { name: string; value: string }[];
  error: null | ApiProblem;
  /** The context of the passes that made it, where these are not the kernel's own: the kernel was
   * compiled for the target on request. Missing in older exports. */
  passes?: number | null;
}

/** For each node seen in a kernel's rewrites, the AST nodes that it comes from. */
export interface Origins {
  node: number[];
  origin: number[][];
}

/** How to run a kernel. */
export interface Launch {
  device: string;
  /** The optimisations to apply, as text; null: the compiler's own choice. */
  opts: string | null;
  /** A text to run in place of the compiler's. */
  source: { kind: ArtifactKind; text: string } | null;
}

export interface RunResult {
  device: string;
  /** The optimisations that were asked for; null: the compiler's own choice. */
  opts: string | null;
  /** The kind of the text that the user had edited; null: the compiler's own. */
  source: string | null;
  /** Microseconds of each launch. */
  us: number[];
  median: number;
  p90: number;
  /** null: there was nothing to compare with, and `detail` says why. */
  equal: boolean | null;
  maxError: number;
  reference: string;
  tolerance: number;
  detail: string;
  /** What the code takes that a GPU's driver loaded, by name: "registers". */
  takes: Record<string, string>;
  /** Instructions that all threads of one launch ran together, on an emulated device, whose times say
   * nothing; null elsewhere. */
  instructions: number | null;
}

/** What a device of this machine can do, as it was measured. */
export interface Peak {
  device: string;
  /** Name of the processor. */
  processor: string;
  /** Floating-point operations, and bytes read and written, per second. */
  flops: number;
  bytes: number;
  measured: string;
}

/** A number; "inf", "-inf" and "nan" are what JSON has no numbers for. */
export type Numeric = number | string;

/** One of the two programs. */
export interface BenchSide {
  kind: string;
  text: string;
  /** The optimisations that were applied; null where its graph does not say. */
  opts: string | null;
  /** Those that all threads of a launch ran, on an emulated device. */
  instructions: number | null;
  /** What its code takes, as far as a tool of this machine says it. */
  facts: { name: string; value: string }[];
}

/** Times of one side, in microseconds. */
export interface BenchSpread {
  us: number[];
  median: number;
  p10: number;
  p90: number;
}

/** Times in turn: the median ratio, edited over original, and its interval of 95 %. */
export interface BenchTimes {
  ratio: number;
  low: number;
  high: number;
  old: number;
  new: number;
  turns: number;
  original: BenchSpread;
  edited: BenchSpread;
}

/** How the output that differs most differs from the original's. */
export interface BenchOutputs {
  output: number;
  compared: number;
  identical: number;
  error: Numeric;
  /** null for integers, and where one of two elements is no number. */
  ulps: number | null;
  at: number[];
  original: Numeric;
  edited: Numeric;
}

/** The error over an output as a table of cells, each the largest of `down` x `across` elements; only
 * cells that are not zero are listed, those furthest off first, and `more` are not. */
export interface BenchPicture {
  output: number;
  rows: number;
  columns: number;
  height: number;
  width: number;
  down: number;
  across: number;
  cell: number[];
  /** The element that is furthest off in each, row by row. */
  at: number[];
  error: Numeric[];
  original: Numeric[];
  edited: Numeric[];
  more: number;
}

/** Both sides on one kind of input. */
export interface BenchInput {
  kind: string;
  title: string;
  /** Whether they agree with each other, as far as rounding lets them; null: they were not run. */
  same: boolean | null;
  /** Whether each agrees with the reference; null where there is nothing to compare with. */
  original: boolean | null;
  edited: boolean | null;
  ulps: number | null;
  error: Numeric;
  /** Why it was not run, or not compared. */
  why: string;
}

/** The result of running both. */
export interface Workbench {
  device: string;
  target: string;
  /** Whether anything was changed: else both are the original. */
  changed: boolean;
  flops: number;
  bytes: number;
  original: BenchSide;
  edited: BenchSide;
  /** null on emulated devices. */
  times: BenchTimes | null;
  outputs: BenchOutputs;
  picture: BenchPicture;
  inputs: BenchInput[];
}

/** The optimisations of a kernel for a target. */
export interface KernelOpts {
  target: string;
  /** Those that the compiler chooses. */
  chosen: string[];
  /** Those that were asked for, each with why it does not apply, or "". */
  opts: { opt: string; why: string }[];
  /** Those that can be applied after them. */
  legal: string[];
  /** Sizes of the loops that are left, over outputs and of reduces. */
  outer: number[];
  inner: number[];
}

/** In what the edited side differs. */
export interface BenchHow {
  device: string;
  /** null: what the compiler chooses. */
  opts: string | null;
  /** Names of rules that are left out. */
  skip: readonly string[];
  source: { kind: string; text: string } | null;
// Compiled otherwise: variants that are kept, replays, rules that have changed.

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

export interface VariantSaid extends VariantSpec {
  /** The same in words. */
  said: string;
}

/** A variant that was tried and is kept, as a row of the table. */
export interface VariantRow {
  number: number;
  kernel: number;
  name: string;
  variant: VariantSaid;
  /** null: it compiles. */
  error: ApiProblem | null;
  /** What ran it; null: it was not run. */
  device: string | null;
  outcome: { equal: boolean; said: string } | null;
  /** New time over old: median and the interval that holds it with 95 %; microseconds of both. */
  times: {
    ratio: number;
    low: number;
    high: number;
    old: number;
    new: number;
    turns: number;
  } | null;
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
