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
}
