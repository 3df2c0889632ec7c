/** What is asked about a folder of packed runs, and the answers. */

/** The folder; null where the server has none. */
export interface Fleet {
  folder: string;
  runs: number;
  commits: number;
  /** When the first and the last of them began. */
  first: string;
  last: string;
  /** The figures there are; `of`: "rule", "pass", "kernel" or "program". */
  metrics: { name: string; of: string }[];
}

/** What the figures can be of: much of the folder is read for it. */
export interface FleetNames {
  /** The costliest over all runs. */
  rules: { name: string; us: number; matches: number }[];
  /** Those that most runs have. */
  kernels: { name: string; us: number; runs: number }[];
}

export interface FleetRun {
  run: string;
  commit: string;
  program: string;
  time: string;
  seconds: number;
  kernels: number;
  steps: number;
  /** Where its trace was; "" where that is not told. */
  path: string;
}

/** Some of the runs that were asked for. */
export interface FleetRuns {
  total: number;
  begin: number;
  runs: FleetRun[];
}

/** A figure of one program at a commit. */
export interface FleetPoint {
  commit: string;
  median: number;
  low: number;
  high: number;
  /** How many runs have it, and one of them. */
  runs: number;
  run: string;
}

/** A figure over the commits, a line for each program. */
export interface FleetSeries {
  metric: string;
  of: string;
  commits: string[];
  programs: {
    program: string;
    points: FleetPoint[];
    /** `a`, `b`: a run before and one from there on. */
    changes: { commit: string; before: number; after: number; a: string; b: string }[];
  }[];
}

/** What a server answers about its folder of packed runs. */
export interface FleetQuestions {
  summary(): Promise<Fleet | null>;
  names(): Promise<FleetNames>;
  /** Those from number `begin` on that have the text. */
  runs(text: string, order: string, begin: number, signal?: AbortSignal): Promise<FleetRuns>;
  series(metric: string, of: string, signal?: AbortSignal): Promise<FleetSeries>;
  /** Opens the trace of a packed run beside the others; answers with the name of its run. */
  open(run: string): Promise<string>;
}
