/** Two runs side by side: what one compiler did that the other did not. Numbers are those of each
 * run; `a` is the run that was, `b` the one that is. */

/** New time over old, and the interval that holds it with 95 %. */
export interface Interval {
  ratio: number;
  low: number;
  high: number;
}

/** Of two programs in turn, the median ratio; microseconds of both. */
export interface Times extends Interval {
  old: number;
  new: number;
  turns: number;
}

/** added: in B only; removed: in A only. */
export type Change = "equal" | "changed" | "added" | "removed";

export interface Both<T> {
  a: T | null;
  b: T | null;
}

/** The overview of a pair. Partial until `done`: ask again. */
export interface Comparison {
  done: boolean;
  /** 0 to 1. */
  progress: number;
  runs: Both<ComparedRun>;
  /** Nothing differs but times. Says nothing until `done`. */
  equal: boolean;
  /** Sentences: that these are different programs, what is left out, what could not be read. */
  notes: string[];
  totals: ComparedTotal[];
  /** Kernels, schedules, and passes outside of both; the most changed first. */
  scopes: ScopePair[];
  /** Scopes for which there was no room: equal ones first. */
  leftOut: number;
  rules: RulePair[];
  passes: PassTotal[];
  /** Versions, flags, commit, machine: only what differs. */
  environment: { what: string; a: string; b: string }[];
  /** Rewrites that failed on one side only. */
  errors: ComparedError[];
}

export interface ComparedRun {
  file: string;
  title: string;
  command: string;
  commit: string;
  started: string;
  live: boolean;
  /** It is the text of a kernel that was edited: no pass made it, and it has no steps. */
  edited: boolean;
}

/** `null`: that side does not say. */
export interface ComparedTotal extends Both<number> {
  what: "kernels" | "steps" | "nodes" | "compile" | "run" | "memory" | "launches";
  unit: "" | "us" | "B";
}

/** A context (or a rewrite outside of any) on either side, or on one. */
export interface ScopePair extends Both<number> {
  kind: "kernel" | "schedule" | "other";
  state: Change;
  name: Both<string>;
  /** "conv2d, relu". */
  call: string;
  /** How the two were matched. */
  by: "structure" | "call" | "likeness" | null;
  steps: Both<number>;
  /** Nodes of the last graph. */
  nodes: Both<number>;
  launches: Both<number>;
  /** Median of a launch in microseconds. */
  us: MedianPair;
  /** Bytes that a launch moves, as estimated when it was compiled. */
  bytes: Both<number>;
  /** Lines of the source text that is run. */
  lines: Both<number>;
  registers: RegisterPair[];
  /** null: nothing in its passes differs, or it is there on one side only. */
  first: FirstDifference | null;
}

export interface MedianPair extends Both<number> {
  /** null: there are too few launches, or both run the same text. Missing in older exports. */
  ratio?: Apart | null;
}

/** The ratio of two medians, and the interval that follows from all launches. */
export interface Apart extends Interval {
  /** Launches of the side that has fewer. */
  n: number;
}

export interface RegisterPair extends Both<number> {
  target: string;
}

/** The first pass of a scope, and the first step of it, that differ. */
export interface FirstDifference extends Both<number> {
  /** Name of the pass; `a` and `b` are its rewrites. */
  pass: string;
  /** 1-based; null: that side has no such step. Both null: the graphs before the first step differ,
   * or only one side has the pass. */
  stepA: number | null;
  stepB: number | null;
  ruleA: number | null;
  ruleB: number | null;
  /** The node at which it happens, in words: "IDIV int32". */
  node: string;
}

/** A rule of either side; `a`, `b`: its number. */
export interface RulePair extends Both<number> {
  name: string;
  file: string;
  matches: Both<number>;
  /** Of its function in all its matches, microseconds; null: that is not known. Not in files
   * that were exported before there was this figure. */
  us?: Both<number>;
  state: "more" | "less" | "gone" | "new" | "equal";
  /** Whether its recorded text differs. */
  text: boolean;
}

/** All passes of one name. */
export interface PassTotal {
  name: string;
  steps: Both<number>;
  us: Both<number>;
}

/** `a`, `b`: the rewrite that failed on that side. */
export interface ComparedError extends Both<number> {
  where: string;
  message: string;
}

/** The passes and texts of two scopes. 0 in place of a scope: of the other one only. */
export interface ScopeComparison {
  passes: PassPair[];
  sources: SourceName[];
}

/** A pass on either side, in order. */
export interface PassPair extends Both<number> {
  name: string;
  /** How deep it is inside other passes. */
  depth: number;
  state: Change;
  stepsA: number;
  stepsB: number;
  /** Steps that both have. */
  same: number;
  first: { stepA: number | null; stepB: number | null } | null;
}

export interface SourceName {
  kind: string;
  target: string;
  title: string;
  a: boolean;
  b: boolean;
  equal: boolean;
  /** Not recorded on both sides: compiled on request, with the code that was
   * installed then. Missing in older exports. */
  onRequest?: boolean;
}

/** How two passes go in step. 0 in place of a rewrite: none on that side. */
export interface PassAlignment {
  /** Rows in order; 1-based steps of A and of B, 0 where that side has a gap. State 0 of both is
   * before the first row. */
  steps: [a: number, b: number][];
  /** Per row: the same rule, the same node before and after it. */
  equal: boolean[];
  /** Slots of the two bundles that are the same node, over all states; each slot at most once. */
  slots: [a: number, b: number][];
  ofSteps: { onlyA: number; onlyB: number; both: number };
  /** Rules whose number of matches differs in this pass. */
  rules: { name: string; a: number; b: number }[];
  /** A sentence that says what was left out, if anything. */
  truncated: string | null;
}

export type LineState = "same" | "renamed" | "moved" | "changed" | "removed" | "added";

/** One kind of text of two scopes, line by line. The nodes behind lines are those of the kernels. */
export interface SourceDifference {
  /** 1-based lines, 0 for a gap. A moved line has two rows, one with each side's gap. */
  rows: { a: number; b: number; state: LineState }[];
  a: string[];
  b: string[];
  /** Registers that only have another name. */
  renamed: [a: string, b: string][];
  /** Blocks of lines that are elsewhere: their first lines, and how many there are. */
  moved: { a: number; b: number; lines: number }[];
  /** A sentence that says what was left out, if anything. */
  truncated: string | null;
}
