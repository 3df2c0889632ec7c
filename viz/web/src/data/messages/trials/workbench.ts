/** The workbench: a kernel as it is and as it is changed, and which optimisations apply. */
import type { Times } from "../compare";

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

/** Times in turn, edited over original. */
export interface BenchTimes extends Times {
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

/** The texts of a kernel as it is changed, for one target. */
export interface ChangedTexts {
  target: string;
  texts: { kind: string; text: string; facts: { name: string; value: string }[] }[];
}

/** What a beam search for the optimisations of a kernel has found. */
export interface FoundOpts {
  device: string;
  /** Members of the beam. */
  width: number;
  /** Those found, and those chosen without a search: "UPCAST(0, 4)"; "" for none. */
  opts: string;
  chosen: string;
  /** Of those found, and of those chosen: microseconds or, where `counted`, instructions of all
   * threads; null where it could not be measured. */
  cost: number | null;
  first: number | null;
  counted: boolean;
  rounds: number;
  /** Programs that were measured; that were the same as one before; that could not be compiled or run. */
  tried: number;
  duplicates: number;
  failed: number;
  /** Whether the limit of time did not end it. */
  inTime: boolean;
  /** All of it in one line. */
  said: string;
}

/** In what the edited side differs. */
export interface BenchHow {
  device: string;
  /** null: what the compiler chooses. */
  opts: string | null;
  /** Names of rules that are left out. */
  skip: readonly string[];
  /** A text in place of that of the program which these make. */
  source: { kind: string; text: string } | null;
  /** The kind of inputs that times and picture are of; null: the values of the run or, without any,
   * the first kind. */
  inputs: string | null;
}
