/**
 * The messages between trace and page, as documented TypeScript.
 *
 * The server (viz/replay/bundle.py, viz/server) writes these, the live page and the exported file read
 * them. Never holds code: only shapes. Indices are 0-based; -1 means "none".
 */

/** One graph_rewrite: its node table and the delta of every step. */
export interface Bundle {
  version: 1;
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
  /** Value bounds as text, "" if unknown. */
  lo: string[];
  hi: string[];
  /** Range letters, "g0 l1 r2", or "". */
  ranges: string[];
  /** Content indices of the sources. */
  src: number[][];
  /** Index into `origins`. */
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

export interface Problem {
  what: string;
  where: string;
  hint: string;
  rewrite: number | null;
  step: number | null;
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
  problems: Problem[];
  /** Contexts of kernels that were compiled on request. Missing in older exports. */
  compilations?: number[];
  devices: string[];
  editable: { device: string; kind: ArtifactKind; target: string }[];
  targets: string[];
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
}

export interface Rule {
  id: number;
  name: string;
  /** First line of the docstring. */
  equation: string;
  doc: string;
  /** Name of the matcher that the rule belongs to. */
  group: string;
  file: string;
  line: number;
  source: string;
  /** Line number of the first line of `source`. */
  sourceLine: number;
  pattern: Pat;
  matches: number;
  declines: number;
  us: number;
}

/** A pattern as data. Empty `op` or `dtype`: any. */
export interface Pat {
  op: string[];
  dtype: string[];
  name: string | null;
  arg: string | null;
  src: PatSources;
  anyOf?: Pat[];
  allowAny?: boolean;
}

export type PatSources =
  { kind: "any" } | { kind: "ordered" | "permuted"; of: Pat[] } | { kind: "repeat"; of: Pat };

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

/** The one shape of every error: what happened, where, what to do. */
export interface ApiProblem {
  what: string;
  where: string;
  hint: string;
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
}

export interface Job {
  state: "running" | "done" | "error";
  progress: string;
  result: unknown;
  error: ApiProblem | null;
}

/** The result of an export. */
export interface Exported {
  /** Sentences that say what the file does not hold. */
  leftOut: string[];
}

export interface SearchResult {
  /** In groups, one after the other; of each group the first ones. */
  hits: SearchHit[];
  /** How many hits each group has. */
  totals: Record<string, number>;
  total: number;
  /** A sentence that says what was not searched in the time there was, if anything. */
  truncated: string | null;
  /** What is wrong with a query that was to describe a structure. */
  problem: { what: string; where: string; hint: string } | null;
}

/** What a query found: the row to open; `kind` is the group. */
export interface SearchHit {
  row: number;
  kind: "kernel" | "call" | "rule" | "pass" | "group" | "op" | "file" | "source" | "node";
  text: string;
  /** The state of the pass in which the node is, and the node. */
  step: number | null;
  node: number | null;
  /** A line of a source text of the kernel, from 1. */
  source: { kind: string; target: string; line: number } | null;
}

/** The lines of the user's program that the run names, as they were when it ran. */
export interface UserFile {
  /** As places show it: a name that `Node.origin` and `Row.caller` begin with. */
  file: string;
  /** Whether the file has changed since; null where that cannot be told here. */
  changed: boolean | null;
  /** Whether further lines that the run names were left out of the trace: there were too many. */
  cut: boolean;
  /** Lines that follow each other, from line `first` on, in order. */
  parts: { first: number; lines: string[] }[];
  /** Lines that became kernels, in order, with the numbers of these. */
  kernels: { line: number; kernels: number[] }[];
}

/** When everything of the run happened. Times are microseconds since the recording began. */
export interface TimelineData {
  version: 1;
  end: number;
  /** Names of spans and launches; tracks hold indices. */
  names: string[];
  tracks: TimelineTrack[];
  /** A sentence that says what was left out, if anything. */
  truncated: string | null;
}

interface TrackHead {
  name: string;
  /** Number of the process in the run, its process id (0: unknown), and the thread in it. */
  process: number;
  pid: number;
  thread: number;
  /** The first time, then differences. */
  start: number[];
}

/** Contexts and passes of a thread, by level; each level ascends in time without overlap. */
export interface ThreadTrack extends TrackHead {
  kind: "thread";
  level: number[];
  /** Duration; -1: it had not ended. */
  us: number[];
  names: number[];
  /** 0 schedule, 1 kernel, 2 pass, 3 group. */
  kinds: number[];
  /** Context or rewrite id. */
  id: number[];
  /** Matches of a pass; 0 for contexts. */
  steps: number[];
  /** Positions of spans that ended in an error. */
  failed: number[];
}

/** Kernel launches on a device, ascending in time. */
export interface DeviceTrack extends TrackHead {
  kind: "device";
  ns: number[];
  names: number[];
  bytes: number[];
}

/** Bytes allocated on a device, from each time on. */
export interface MemoryTrack extends TrackHead {
  kind: "memory";
  bytes: number[];
}

export type TimelineTrack = ThreadTrack | DeviceTrack | MemoryTrack;

/** What each rule did and cost in each pass. */
export interface RuleTotals {
  /** Rules that matched or declined in a pass. */
  rows: RuleTotal[];
  /** Rules that did neither there, and how often each was tried. Missing in older exports. */
  silent?: { pass: string; id: number[]; tries: number[] }[];
  /** Time of passes outside matches, microseconds: of the run, and of the passes of each name,
   * the longest first. Missing in older exports. */
  untimed?: { us: number; passes: { pass: string; us: number }[] };
  /** Steps whose added and removed nodes are counted, of all steps of passes that have ended. */
  counted: number;
  steps: number;
}

/** How often each rule matched in each pass: lists side by side, by rule, then in the order in which
 * the passes began. */
export interface RuleMatches {
  rule: number[];
  rewrite: number[];
  matches: number[];
  /** Pairs of rule and pass for which there was no room. */
  leftOut: number;
  /** False while it is still counted. */
  done: boolean;
}

export interface RuleTotal {
  /** Name of the pass. */
  pass: string;
  /** Rule id and name. */
  id: number;
  rule: string;
  /** How many nodes were offered to it; null or missing where the trace does not say it. */
  tries?: number | null;
  matches: number;
  declines: number;
  /** Microseconds of its function in its matches; other tries are not timed. */
  us: number;
  added: number;
  removed: number;
}

/** Where the nodes of a schedule or a kernel come from, and where they go. */
export interface Lineage {
  done: true;
  /** Id of the context (or of a rewrite without one) that it is about. */
  scope: number;
  ops: string[];
  /** Lines of the user's program. */
  lines: string[];
  node: {
    /** Trace-wide node id. */
    id: number[];
    op: number[];
    /** Index into `lines`, -1 none. */
    line: number[];
    /** The event that made the node; -1: it came with the graph of `rewrite`. */
    event: number[];
    /** The rewrite in which it was first seen. */
    rewrite: number[];
  };
  /** In the order in which they happened; `old` and `new` are indices of `node`. */
  event: {
    rewrite: number[];
    step: number[];
    /** Rule id; -1: the same node with other sources; -2: changed between two passes. */
    rule: number[];
    old: number[];
    new: number[];
  };
  /** The pass of another scope that made the first graph. */
  from: { scope: number; rewrite: number } | null;
  /** Kernels that begin with a graph of this scope; `node`: the nodes of that graph. */
  kernels: { scope: number; rewrite: number; node: number[] }[];
  truncated: string | null;
}

/** Asking again goes on with the work. */
export interface LineageWaits {
  done: false;
  /** 0 to 1. */
  progress: number;
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
  /** Whether it is the one that is shown. */
  open: boolean;
}

/** The traces that can be gone on with: names of their files. */
export interface RecentTraces {
  open: string;
  /** The one that was open before; null: none was. */
  former: string | null;
  /** Those of the user's cache, youngest first. */
  traces: RecentTrace[];
}

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
  /** Of the rules that matched, those that took longest in their matches. */
  rules: RuleShare[];
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
  /** The first one's context, and how many there are. */
  context: number;
  equal: number;
  name: string;
  /** "conv2d, relu", and "file:line" of the first call; "" where not known. */
  calls: string;
  place: string;
  target: string;
  device: string;
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
  device: string;
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
