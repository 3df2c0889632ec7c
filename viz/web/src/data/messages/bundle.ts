/** One graph_rewrite: its nodes, and what each of its steps changed. */

/** What a dialect says of an op; what is left out is as of one of which nothing is known. */
export interface OpWords {
  /** A group of model/ops.ts. */
  group?: string;
  short?: string;
  commutes?: boolean;
  /** Its results are joined one by one, in any order. */
  joins?: boolean;
  /** Its argument is a number that a process has counted up to. */
  counted?: boolean;
  /** The first and the last source that are addresses; -1: all to the end. */
  addresses?: [number, number];
  /** How it is written in an expression: a {} for each source, {dtype} for its type. */
  spelled?: string;
  /** How tightly that binds, 10 where it is left out: as a call. */
  binds?: number;
  /** By what a leaf is named: its argument, the identifier in that, the last of its ranges. */
  named?: "arg" | "word" | "range";
  /** The op that it is on booleans. */
  onBool?: string;
  /** Of booleans: the second source with which it is the negation of the first. */
  negates?: string;
  /** The first word of its argument is a name that another run has otherwise. */
  passing?: boolean;
}

/** What can be done with a run besides looking at it. */
export type Action = "compile" | "run" | "emulate" | "what-if" | "check" | "bisect" | "tiles";

/** What a compiler's graphs mean, as far as it is known: nothing of a run that is in no dialect. */
export interface Dialect {
  name: string;
  version: number;
  title: string;
  /** By name; one that ends in a dot is that of all that begin with it. */
  ops: Record<string, OpWords>;
  actions: Action[];
  /** What its compiler can do with a kernel besides, by the names of these. */
  own: { name: string; title: string }[];
  /** What its kernels and its schedules are called. This and all below is missing in older exports. */
  contexts?: Record<string, { title: string; plural: string }>;
  /** What people call devices. */
  devices?: Record<string, string>;
  /** The device whose results others are compared with. */
  reference?: string;
  /** The targets that are shown first. */
  usual?: string[];
  /** The family of targets for which any machine runs an edited text, by its kind. */
  edited?: Record<string, string>;
}

/** One graph_rewrite: its node table and the delta of every step. */
export interface Bundle {
  version: 1;
  /** That of its run: set when it arrives, no part of the message. */
  dialect?: Dialect;
  rewrite: number;
  name: string;
  context: number;
  bottomUp: boolean;
  /** String tables, indexed by the fields of the same name in `nodes`. */
  ops: string[];
  dtypes: string[];
  args: string[];
  locs: string[];
  tags: string[];
  shapes: string[];
  /** "CPU:1", "CPU and CPU:1, cut along axis 0". Missing in older exports, as `NodeTable.device`. */
  devices?: string[];
  /** What sources are to nodes, by `NodeTable.role`: "lhs,rhs"; missing where no node says it. */
  roles?: string[];
  nodes: NodeTable;
  /** Lines of the user's program ("examples/digits.py:41"). */
  origins: string[];
  /** Number of slots; slot ids are 0..slots-1. */
  slots: number;
  /** State 0: parallel arrays. `src` holds slots. */
  initial: { slot: number[]; node: number[]; src: number[][] };
  root: number;
  steps: Step[];
  error: null | RewriteError;
  /** A sentence that says what was left out, if anything. */
  truncated: null | string;
}

/** The compiler's own text of the program before or after a pass. */
export interface PassText {
  /** Its language, such as "mlir". */
  kind: string;
  text: string;
  /** Of each line the nodes behind it, as far as that is known. */
  lines: number[][];
  /** Lines that were not kept. */
  leftOut: number;
  /** Why it cannot be read, or "". */
  error: string;
}

/** Null where the compiler did not print it. */
export interface PassTexts {
  rewrite: number;
  before: PassText | null;
  after: PassText | null;
}

/** The distinct nodes of one rewrite ("contents"), as parallel arrays. */
export interface NodeTable {
  /** Trace-wide node id, shown as u123. */
  id: number[];
  op: number[];
  dtype: number[];
  arg: number[];
  loc: number[];
  tag: number[];
  shape: number[];
  device?: number[];
  role?: number[];
  /** Value bounds as text, "" if unknown. */
  lo: string[];
  hi: string[];
  /** Range letters, "g0 l1 r2", or "". */
  ranges: string[];
  /** Content indices of the sources. */
  src: number[][];
  /** Index into `origins`, texts of the lines that ask for a node: of several, a line of text each. */
  origin: number[];
}

export interface RewriteError {
  step: number;
  /** Rule id, -1 for none. */
  rule: number;
  message: string;
  /** The frames of the user's program and of the rule. */
  traceback: string;
  /** The rest is missing in older exports. What Python prints, the engine's frames too. */
  full?: string;
  /** "file:line" in the rule's file that raised, or "". */
  place?: string;
  /** Content index of the node at which it happened, and the slot of the last graph that holds it. */
  node?: number;
  slot?: number;
  /** The steps of a rewrite without an end, and the slots that they changed. */
  loop?: { rule: number; step: number; slot: number }[];
}

/** One match, plus the rebuilds and merges that follow it. */
export interface Step {
  rule: number;
  /** Time of the match in microseconds. */
  us: number;
  /** The slot that held the matched node. */
  slot: number;
  /** The slot that stands for the result: `slot`, or where it was redirected to. */
  result: number;
  /** Content indices of the matched node and of the result. */
  before: number;
  after: number;
  /** Pattern name and the content index that it bound, on the before side. */
  binds: [string, number][];
  /** [slot, node, source slots]: added, or changed content or edges; the state after the step. */
  set: [number, number, number[]][];
  drop: number[];
  /** Slots to highlight: removed in Before, added in After, moved in both. */
  removed: number[];
  added: number[];
  moved: number[];
}
