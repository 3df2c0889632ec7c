/** The run as a whole: what it was, its rows, its files, and other runs beside it. */
import type { Dialect } from "./bundle";
import type { ArtifactKind } from "./kernel";

export interface Problem {
  what: string;
  where: string;
  hint: string;
  rewrite: number | null;
  step: number | null;
}

/** A kind of text that a device runs once it is edited. Without a device, and for any target, where no
 * device is there. */
export interface Editable {
  device: string;
  kind: ArtifactKind;
  target: string;
  /** What has to be installed first; "" for nothing. */
  missing: string;
}

/** A run that is open, or that an exported file holds. */
export interface RunName {
  /** A letter. */
  name: string;
  /** Name of its file. */
  file: string;
  /** What it is called beside others: "digits.py · 3f2c1ab + 2 edits". */
  title: string;
  live: boolean;
}

/** One program run. `devices` can run kernels here, `targets` can be compiled for; texts of
 * `editable` can be run once the user has edited them. */
export interface Run {
  name: string;
  command: string;
  commit: string;
  dirty: number;
  started: string;
  seconds: number;
  live: boolean;
  processes: number;
  bytes: number;
  file: string;
  /** Versions of the trace format, and of the exported file that it came in (null: none). */
  format: { trace: number; export: number | null };
  lost: number;
  machine: string;
  python: string;
  versions: Record<string, string>;
  totals: {
    contexts: number;
    kernels: number;
    rewrites: number;
    steps: number;
    launches: number;
  };
  /** Another trace was recorded in the place of this one, which is shown as it was. Missing in exports. */
  replaced?: boolean;
  /** Of how many kernels and captured steps the trace holds values of the run, of how many kernels it
   * was to hold them, and the bytes. Missing in older exports. */
  captured?: { kernels: number; steps?: number; leftOut: number; bytes: number };
  problems: Problem[];
  /** Contexts of kernels that were compiled on request. Missing in older exports. */
  compilations?: number[];
  /** Kernels of which something was emulated. Missing in older exports. */
  emulated?: number[];
  /** Kernels that were compiled for the GPU of a browser. Missing in older exports. */
  shaders?: number[];
  /** Contexts of captured steps of which the trace holds values. Missing in older exports. */
  stepValues?: number[];
  devices: string[];
  editable: Editable[];
  /** The text of its kernels that a browser with WebGPU can run; null for none. Missing in older exports. */
  browser?: { kind: ArtifactKind; target: string } | null;
  /** The kinds of inputs that the workbench can run a kernel on. Missing in older exports. */
  inputs?: { kind: string; title: string }[];
  targets: string[];
  /** Seconds that the page of a program stays after its end while it is closed; null: it is
   * served until it is stopped. Missing in exported files. */
  stays?: number | null;
  /** The command that opens the run again. Missing in exported files. */
  again?: string;
  /** What its graphs mean. Missing in older exports. */
  dialect?: Dialect;
  /** Every kind of source text, those that the page prefers first. */
  kinds: Kind[];
  /** The family of each target that sources can be made for: "nvidia" for "sm_90". */
  families: Record<string, string>;
}

/** A kind of source text, as the compiler's table of them has it. */
export interface Kind {
  kind: ArtifactKind;
  title: string;
  language: string;
  /** What the name of a file of it ends with: ".ptx". */
  ending: string;
  /** Families of targets that it can be made for. */
  families: string[];
}

/** Rows appended or changed since the row asked for. */
export interface Tree {
  rows: Row[];
  total: number;
}

/** A context or a rewrite in the navigator. */
export interface Row {
  row: number;
  /** Row of the parent, -1 for the root. */
  parent: number;
  kind: "context" | "rewrite";
  /** Context id or rewrite id. */
  id: number;
  name: string;
  label: "schedule" | "kernel" | "pass" | "group";
  /** Matches, own and below. */
  steps: number;
  declines: number;
  ms: number;
  /** Rewrites: nodes in the result. */
  nodes: number;
  /** "gone": the row stands for nothing any more. */
  status: "ok" | "error" | "open" | "gone";
  /** "file:line" of the caller. */
  caller: string;
  /** Of a kernel: names of the user's calls that it computes, such as "conv2d, relu". */
  calls: string;
  /** Of a kernel compiled on request, below the program's kernel: what for. What is below is no
   * part of what the program did, and is not counted above. Missing in older exports. */
  target?: string;
  /** Of a kernel of the program: the target that it was compiled for. Missing in older exports. */
  arch?: string;
  /** Of a pass: whether it has texts of the compiler's own. Missing in older exports. */
  text?: boolean;
  /** Of a "group": what its compiler calls it, such as "pipeline". Missing in older exports. */
  what?: string;
}

/** The lines of the user's program that the run names, as they were when it ran. */
export interface UserFile {
  /** As places show it: a name that `Node.origin` and `Row.caller` begin with. */
  file: string;
  /** Whether further lines that the run names were left out of the trace: there were too many. */
  cut: boolean;
  /** Lines that follow each other, from line `first` on, in order. */
  parts: { first: number; lines: string[] }[];
  /** Lines that became kernels, in order, with the numbers of these. */
  kernels: { line: number; kernels: number[] }[];
}

export type FileState = "same" | "changed" | "gone";

/** A rule that is not as it was: it stands in its file at `line` today, with the same text or with
 * another one; 0 where it is gone. */
export interface RuleToday {
  rule: number;
  state: "moved" | "changed" | "gone";
  line: number;
}

/** Who made a trace: "" for what it does not say. */
export interface Maker {
  compiler: string;
  version: string;
  /** Its graphs are those of uopviz. */
  own: boolean;
  /** It was made by this version of it. */
  same: boolean;
  /** The trace says that it was made on this machine, and no other user has signed it. */
  here: boolean;
  /** It says that it was not, or another user has. */
  elsewhere: boolean;
  /** The version of this installation. */
  reader: string;
}

/** What has changed since a run. In an exported file: until it was exported. */
export interface Since {
  /** null: not known. */
  maker: Maker | null;
  /** The user's files of which it can be told, by names as places show them. */
  files: { file: string; state: FileState }[];
  /** Rules that are not as they were. */
  rules: RuleToday[];
  /** Rules of which it can be told. */
  compared: number;
  /** The same in sentences. */
  notes: { what: string; hint: string }[];
}

/** A trace of the cache that can be opened in place of this one. */
export interface RecentTrace {
  /** Name of its file. */
  name: string;
  program: string;
  started: string;
  steps: number;
  kernels: number;
  bytes: number;
  live: boolean;
  /** Whether it is that of the run. */
  open: boolean;
}

/** The traces that a run can go on with: names of their files. */
export interface RecentTraces {
  open: string;
  /** The one that was open before; null: none was. */
  former: string | null;
  /** Those of the user's cache, youngest first. */
  traces: RecentTrace[];
}
