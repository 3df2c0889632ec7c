/**
 * What the page asks for, from either source: a server (http.ts) or the exported file itself
 * (embedded.ts). Both may have several runs, each with a letter for its name; one is the case of
 * one. Never caches and never interprets: it moves messages.
 */
import { PAIR_PATHS, PATHS, type Answers, type PairAnswers } from "./answers";
import { withBrowser } from "./browser";
import type { Dialect } from "./messages/bundle";
import type { FleetQuestions } from "./fleet";
import type { ApiProblem, Job } from "./messages/job";
import type { Launch, Peak } from "./messages/kernel";
import type { Shaders } from "./messages/trials/shaders";
import type { BenchHow } from "./messages/trials/workbench";
import type { RecentTraces, RunName } from "./messages/run";
import type { WhatIfActions } from "./whatif";

/** What can be asked: the values that each question takes, and what it gives. */
type Table<T> = { [Name in keyof T]: { takes: unknown[]; gives: unknown } };

/** A function for each answer; it may be given up by a signal behind the values that it takes. All
 * reject with a DataError. */
type Asking<T extends Table<T>> = {
  [Name in keyof T]: (
    ...values: [...T[Name]["takes"], signal?: AbortSignal]
  ) => Promise<T[Name]["gives"]>;
};

/** Questions about a run, and about two. */
export type Questions = Asking<Answers>;
export type PairQuestions = Asking<PairAnswers>;

/** The run that is always there. */
export const FIRST_RUN = "A";

/** The questions about one run, and what only a server can do with it; null in an exported file. */
export interface RunData extends Questions {
  readonly server: ServerActions | null;
  /** A kernel for the GPU of this browser, with the optimisations `opts` and without the rules `skip`.
   * Rejects with a DataError where there is none, and with an AbortError once given up. */
  shadersOf(
    context: number,
    how: { opts: string | null; skip: readonly string[] },
    progress: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Shaders>;
}

/** What both back ends have. */
export interface Backend {
  /** The runs that are open, in the order of their names. */
  runs(): Promise<RunName[]>;
  /** A run by its name, which may be that of none: then its questions reject. */
  of(run: string): RunData;
  /** What differs between two runs: `a` was, `b` is. */
  compare(a: string, b: string): PairQuestions;
  /** Opening and closing runs; null in an exported file. */
  readonly server: RunActions | null;
  /** Packed runs; absent in an exported file. */
  readonly fleet?: FleetQuestions;
}

/** What a server does about the runs that it has open. */
export interface RunActions {
  /** Opens a trace of the user's cache beside the others; answers with the name of its run. */
  openRun(name: string): Promise<string>;
  /** Closes any run but the first. */
  closeRun(run: string): Promise<void>;
}

/** Where the list of runs is. */
export const RUNS = "/api/runs";

/** What the paths of the answers about a run begin with. */
export const baseOf = (run: string): string => `/api/${run}`;
const baseOfPair = (a: string, b: string): string => `/api/compare/${a}/${b}`;

/** Gives the answer of a path. */
export type Ask = (path: string, signal?: AbortSignal) => Promise<unknown>;

const PARAMETER = /\{\w+(?::text)?\}/g;

/** The path of an answer for these values, below that of its run. */
export const pathOf = <Name extends keyof Answers>(
  name: Name,
  ...values: Answers[Name]["takes"]
): string => filled(PATHS[name], values);

function filled(template: string, values: readonly unknown[]): string {
  const left = [...values];
  return template.replace(PARAMETER, () => encodeURIComponent(String(left.shift())));
}

/** The questions about a run, all asked of `ask`; a bundle comes with the dialect of the run. */
export function questions(run: string, ask: Ask): Questions {
  const asked = asking(PATHS, baseOf(run), ask) as unknown as Questions;
  let dialect: Promise<Dialect | undefined> | null = null;
  const ofRun = async (signal?: AbortSignal): ReturnType<Questions["run"]> => {
    const found = withBrowser(await asked.run(signal));
    dialect = Promise.resolve(found.dialect);
    return found;
  };
  const known = (): Promise<Dialect | undefined> =>
    (dialect ??= asked.run().then(
      (found) => found.dialect,
      () => void (dialect = null),
    ));
  return {
    ...asked,
    run: ofRun,
    bundle: async (rewrite, signal) => {
      const [bundle, words] = await Promise.all([asked.bundle(rewrite, signal), known()]);
      return words ? { ...bundle, dialect: words } : bundle;
    },
  };
}

/** The same about two runs. */
export const pairQuestions = (a: string, b: string, ask: Ask): PairQuestions =>
  asking(PAIR_PATHS, baseOfPair(a, b), ask) as unknown as PairQuestions;

function asking(
  paths: Readonly<Record<string, string>>,
  base: string,
  ask: Ask,
): Record<string, (...given: unknown[]) => Promise<unknown>> {
  const one = (template: string) => {
    const count = template.match(PARAMETER)?.length ?? 0;
    return (...given: unknown[]): Promise<unknown> =>
      ask(base + filled(template, given.slice(0, count)), given[count] as AbortSignal | undefined);
  };
  return Object.fromEntries(Object.entries(paths).map(([name, template]) => [name, one(template)]));
}

/** `device` such as PTX:EMU. */
export interface EmulateHow extends Launch {
  block: number;
  warp: number;
}

/** What of a run is checked, by number: all of it where nothing is named. */
export interface CheckWhat {
  kernel?: number;
  pass?: number;
  rule?: number;
  /** Also what is known. */
  again?: boolean;
}

/** `device`: the one that it is compiled for, "" for that of the run; `opts`: the optimisations to
 * apply, as text; null: the compiler's own choice. */
export interface BisectHow {
  device: string;
  opts: string | null;
}

/** What of a run goes into an exported file. `kernels`: the only ones to keep, or all when it is empty;
 * `redact`: leave out what says whose run it was; `values`: keep what was captured in the run; `passes`:
 * with all passes for the targets whose texts the file shows. */
export interface ExportHow {
  kernels: readonly number[];
  redact: boolean;
  values: boolean;
  passes: boolean;
}

/** Actions that need the user's machine. Each starts only on the user's command. */
export interface ServerActions {
  /** Kernels compiled otherwise. */
  whatIf: WhatIfActions;
  /** Starts compiling; answers with a job whose result is Artifact[]. */
  compile(context: number, target: string): Promise<number>;
  /** Starts compiling a kernel for the GPU of a browser; answers with a job whose result is Shaders. */
  shaders(context: number, opts: string | null, skip: readonly string[]): Promise<number>;
  /** Starts running `count` times; answers with a job whose result is RunResult. */
  launch(context: number, count: number, how: Launch): Promise<number>;
  /** Starts running a kernel as it is and as it is changed, in turn; answers with a job whose result
   * is Workbench. */
  bench(context: number, how: BenchHow): Promise<number>;
  /** Starts compiling a kernel with other optimisations, without some rules; answers with a job whose
   * result is ChangedTexts. */
  changedTexts(
    context: number,
    target: string,
    opts: string | null,
    skip: readonly string[],
  ): Promise<number>;
  /** Starts finding the optimisations of a kernel; answers with a job whose result is KernelOpts. */
  kernelOpts(context: number, target: string, opts: string | null): Promise<number>;
  /** Starts a beam search for the optimisations of a kernel; answers with a job whose result is
   * FoundOpts. */
  searchOpts(context: number, device: string, width: number): Promise<number>;
  /** Starts emulating a kernel and one warp of it; answers with a job whose result is Emulation. */
  emulate(context: number, how: EmulateHow): Promise<number>;
  /** Starts calling the function of a rule again that declined a node of a pass; answers with a job
   * whose result is WhyNot. */
  whyDeclined(rewrite: number, node: number, rule: number): Promise<number>;
  /** Starts checking steps; answers with a job whose result is CheckDone. */
  check(what: CheckWhat): Promise<number>;
  /** Starts looking for the match that makes the result of a kernel wrong; answers with a job whose
   * result is Bisection. */
  bisect(context: number, how: BisectHow): Promise<number>;
  /** Starts looking for what is wrong in the whole run; answers with a job whose result is
   * RunBisection. */
  bisectRun(): Promise<number>;
  /** What was measured of the devices of this machine. */
  peaks(): Promise<Peak[]>;
  /** Starts measuring one of them; answers with a job whose result is Peak. */
  measure(device: string): Promise<number>;
  job(id: number): Promise<Job>;
  cancel(id: number): Promise<void>;
  /** Opens the user's editor at a place that the trace names. */
  open(file: string, line: number): Promise<void>;
  /** The newest traces of the user's cache, and going on with one of them in place of the run. */
  traces(): Promise<RecentTraces>;
  openTrace(name: string): Promise<void>;
  /** Goes on with the one that was open before. */
  openFormer(): Promise<void>;
  /** Goes on with the one that was recorded in the place of this one. */
  openAgain(): Promise<void>;
  /** Starts exporting the run, or it and the runs `beside` it; answers with a job whose result is
   * Exported. */
  exportRun(how: ExportHow, beside?: readonly string[]): Promise<number>;
  /** The file that such a job has made; the server gives it once. */
  exportedFile(job: number, signal: AbortSignal): Promise<Blob>;
}

/** An error with what happened, where, and what to do. `lost`: there was no answer. */
export class DataError extends Error implements ApiProblem {
  constructor(
    readonly what: string,
    readonly where: string,
    readonly hint: string,
    readonly lost = false,
  ) {
    super(what);
    this.name = "DataError";
  }
}

/** Any thrown value as the problem that the page shows. */
export function asProblem(thrown: unknown, where: string): ApiProblem & { lost: boolean } {
  if (thrown instanceof DataError) return thrown;
  if (isProblem(thrown))
    return { what: thrown.what, where: thrown.where, hint: thrown.hint, lost: false };
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    what: text,
    where,
    hint: "Reload the page. If the problem persists, report it with the trace.",
    lost: false,
  };
}

/** Errors of other layers that carry the same three sentences. */
function isProblem(thrown: unknown): thrown is ApiProblem {
  const has = (key: string): boolean =>
    thrown instanceof Error &&
    typeof (thrown as unknown as Record<string, unknown>)[key] === "string";
  return has("what") && has("where") && has("hint");
}

/** True for the rejection of a request that the page itself gave up. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}
