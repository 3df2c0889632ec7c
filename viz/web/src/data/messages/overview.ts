/** What ran and what took how long: the run, and one kernel of it. */
import type { Kernel } from "./kernel";
import type { Row } from "./run";

/** What ran and what took how long: the page that opens first. Times are microseconds. */
export interface Overview {
  version: 1;
  /** What kernels and lines weigh: time of launches, time of compiling, or steps. */
  by: "run" | "compile" | "steps";
  /** That of all kernels together. */
  whole: number;
  /** Devices that something was launched on. */
  devices: string[];
  /** Recorded on the machine that answers, as far as the trace says it. */
  here: boolean;
  /** null: left out. */
  activity: Activity | null;
  /** Heaviest first. */
  kernels: KernelLine[];
  /** Kernels that are not in the list. */
  kernelsLeft: number;
  /** Heaviest first. */
  lines: LineShare[];
  /** The costliest first. */
  rules: RuleShare[];
  /** Rules that matched. */
  ruleCount: number;
  /** Without the time of passes inside them, the slowest first. */
  passes: SlowPass[];
  /** Time of all passes: what shares of rules are of. */
  passesUs: number;
  /** A sentence that says what was left out, if anything. */
  truncated: string | null;
}

/** Every moment of the run counts once: as running, else as compiling, else as scheduling. */
export interface Activity {
  end: number;
  /** `reach`: from the first such moment to the last. */
  parts: { kind: Part; us: number; reach: [number, number] | null }[];
  /** Stretches of equal length from 0 to `end`: shares in per mille. */
  strip: Record<Exclude<Part, "rest">, number[]>;
  /** The most bytes that were allocated in each stretch; [] if the trace has none. */
  memory: number[];
  peak: number;
}

export type Part = "run" | "compile" | "schedule" | "rest";

/** Equal kernels: of one name, target, calls and work. */
export interface KernelLine {
  /** The first one's context, and how many there are; -1 and 0 where only launches were recorded:
   * the kernel was compiled before. */
  context: number;
  equal: number;
  name: string;
  /** "conv2d, relu", and "file:line" of the first call; "" where not known. */
  calls: string;
  place: string;
  target: string;
  /** The first one of `devices`, which it ran on. Those are missing in older exports. */
  device: string;
  devices?: string[];
  launches: number;
  us: number;
  /** Of what all kernels weigh, 0 to 1. */
  share: number;
  /** null: never launched. */
  spread: Spread | null;
  /** Of one launch; 0: not known. */
  flops: number;
  bytes: number;
  registers: { target: string; value: string }[];
  steps: number;
  compileUs: number;
  status: Row["status"];
}

/** How times are distributed; `bins` reach from `from` to `to`, `beyond` times are longer. */
export interface Spread {
  median: number;
  p90: number;
  low: number;
  high: number;
  from: number;
  to: number;
  bins: number[];
  beyond: number;
}

/** A line of the user's program, and the kernels that it became. */
export interface LineShare {
  file: string;
  line: number;
  calls: string;
  /** Of what all kernels weigh, 0 to 1; a kernel of several lines is split between them. */
  share: number;
  us: number;
  kernels: { context: number; name: string }[];
  /** Kernels that are not named. */
  more: number;
}

export interface RuleShare {
  id: number;
  name: string;
  equation: string;
  matches: number;
  /** null where the trace does not say how long tries took. Missing in older exports. */
  tries?: number | null;
  /** Of all tries, or where these are not known of matches. */
  us: number;
  /** Of the time of all passes, 0 to 1. */
  share: number;
}

export interface SlowPass {
  id: number;
  name: string;
  /** The context that it belongs to. */
  of: string;
  us: number;
  steps: number;
  status: Row["status"];
}

/** One kernel as a page. Times are microseconds. */
export interface KernelPage {
  version: 1;
  context: number;
  name: string;
  target: string;
  /** As of a `KernelLine`. */
  device: string;
  devices?: string[];
  status: Row["status"];
  here: boolean;
  /** "file:line call" */
  calls: string[];
  /** Contexts of equal kernels. */
  equal: number[];
  flops: number;
  bytes: number;
  globalSize: number[];
  localSize: number[];
  inputs: Kernel["inputs"];
  launches: number;
  /** Of all launches together. */
  us: number;
  /** When the first launch began; null: never launched. */
  first: number | null;
  spread: Spread | null;
  by: Overview["by"];
  share: number;
  /** Its place among the kernels, the heaviest is 1, and how many there are. */
  rank: number;
  of: number;
  /** When compiling began. */
  start: number;
  compileUs: number;
  /** The optimisations that were applied, in order: "UPCAST(0, 8)". */
  opts: string[];
  /** What each does, in words. Missing in older exports. */
  optWords?: string[];
  passes: KernelPass[];
  /** Passes that are not in the list. */
  passesLeft: number;
  registers: { target: string; value: string }[];
}

export interface KernelPass {
  id: number;
  name: string;
  /** Passes around it. */
  depth: number;
  steps: number;
  us: number;
  status: Row["status"];
}
