/**
 * What the page asks for, whoever answers: a server (http.ts) or the exported file itself
 * (embedded.ts). Never caches and never interprets: it moves messages.
 */
import { PATHS, type Answers } from "./answers";
import type { ApiProblem, Job } from "./messages/job";
import type { Launch, Peak } from "./messages/kernel";
import type { RecentTraces } from "./messages/run";

/** A function for each answer; it may be given up by a signal behind the values that it takes. All
 * reject with a DataError. */
export type Questions = {
  [Name in keyof Answers]: (
    ...values: [...Answers[Name]["takes"], signal?: AbortSignal]
  ) => Promise<Answers[Name]["gives"]>;
};

/** Questions that both back ends answer. */
export interface Backend extends Questions {
  /** What only a server can do; null in an exported file. */
  readonly server: ServerActions | null;
}

/** Gives the answer of a path. */
export type Ask = (path: string, signal?: AbortSignal) => Promise<unknown>;

const PARAMETER = /\{\w+(?::text)?\}/g;

/** The path of an answer, for these values. */
export function pathOf<Name extends keyof Answers>(
  name: Name,
  ...values: Answers[Name]["takes"]
): string {
  const left: unknown[] = [...values];
  return PATHS[name].replace(PARAMETER, () => encodeURIComponent(String(left.shift())));
}

/** The questions, all asked of `ask`. */
export function questions(ask: Ask): Questions {
  const one = (name: keyof Answers, template: string) => {
    const count = template.match(PARAMETER)?.length ?? 0;
    return (...given: unknown[]): Promise<unknown> => {
      const values = given.slice(0, count) as Answers[typeof name]["takes"];
      return ask(pathOf(name, ...values), given[count] as AbortSignal | undefined);
    };
  };
  return Object.fromEntries(
    Object.entries(PATHS).map(([name, template]) => [name, one(name as keyof Answers, template)]),
  ) as unknown as Questions;
}

/** `device` such as PTX:EMU. */
export interface EmulateHow extends Launch {
  block: number;
  warp: number;
}

/** Actions that need the user's machine. Each starts only on the user's command. */
export interface ServerActions {
  /** Starts compiling; answers with a job whose result is Artifact[]. */
  compile(context: number, target: string): Promise<number>;
  /** Starts running `count` times; answers with a job whose result is RunResult. */
  launch(context: number, count: number, how: Launch): Promise<number>;
  /** Starts emulating a kernel and one warp of it; answers with a job whose result is Emulation. */
  emulate(context: number, how: EmulateHow): Promise<number>;
  /** What was measured of the devices of this machine. */
  peaks(): Promise<Peak[]>;
  /** Starts measuring one of them; answers with a job whose result is Peak. */
  measure(device: string): Promise<number>;
  job(id: number): Promise<Job>;
  cancel(id: number): Promise<void>;
  /** Opens the user's editor at a place that the trace names. */
  open(file: string, line: number): Promise<void>;
  /** The newest traces of the user's cache, and going on with one of them. */
  traces(): Promise<RecentTraces>;
  openTrace(name: string): Promise<void>;
  /** Goes on with the one that was open before. */
  openFormer(): Promise<void>;
  /** Starts exporting the run, all kernels when `kernels` is empty; answers with a job whose result
   * is Exported. */
  exportRun(kernels: readonly number[], redact: boolean): Promise<number>;
  /** The file that such a job has made; the server gives it once. */
  exportedFile(job: number, signal: AbortSignal): Promise<Blob>;
}

/** An error with what happened, where, and what to do. `lost`: nobody answered at all. */
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
