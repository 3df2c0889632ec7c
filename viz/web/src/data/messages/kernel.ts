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
  /** The optimisations that were applied; null: the trace does not state them. Missing in older
   * exports. */
  opts?: string[] | null;
  /** The lines of the user's program that it comes from, in the order of its nodes. Missing in older
   * exports. */
  places?: KernelPlace[];
  /** The values that it read in the run; null where they were not asked for. Missing in older
   * exports. */
  captured?: CapturedValues | null;
}

/** A line of the user's program, and the nodes that it asked for: of the AST, or such that stand behind
 * lines of a text without coming from the AST. */
export interface KernelPlace {
  file: string;
  line: number;
  nodes: number[];
  /** Whether other lines ask for each of these nodes, too: equal nodes are one. Missing in older
   * exports. */
  shared?: boolean;
}

/** Values that a kernel read at a launch, which the trace holds. */
export interface CapturedValues {
  device: string;
  /** Which launch, counted from 1. */
  launch: number;
  bytes: number;
  /** Numbers of the arguments that it reads. */
  arguments: number[];
  variables: Record<string, number>;
  /** Why the trace does not hold them; "" where it does. */
  why: string;
}

/** What an action of the compiler's own says of a kernel. */
export interface Acted {
  text: string;
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
  /** Names of rules that are left out. */
  skip: readonly string[];
  /** A text to run in place of that of the program which these make. */
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
