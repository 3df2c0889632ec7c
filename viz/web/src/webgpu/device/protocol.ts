/** What the page and its GPU worker say to each other. */
import type { ApiProblem } from "../../data/messages/job";
import type { Launch, RunResult } from "../../data/messages/kernel";
import type { Shader, ShaderArgument, Shaders } from "../../data/messages/trials/shaders";
import type { Workbench } from "../../data/messages/trials/workbench";

/** The GPU that the browser offers, as far as it says. */
export interface Adapter {
  /** "NVIDIA Ada Lovelace", "SwiftShader (on the CPU)"; "GPU" where the browser says nothing. */
  name: string;
  /** A program of the browser, on the processor. */
  software: boolean;
  /** Whether it has timestamps of its own. */
  timestamps: boolean;
}

/** Programs to run once, each on memory of its own, and then to time in turn. */
export interface Trial {
  sides: Shader[];
  /** Which of them are timed. */
  timed: number[];
  /** Whose memory begins with generated values. */
  arguments: ShaderArgument[];
  /** The numbers of the arguments that are read back. */
  written: number[];
  /** Seconds that the timing may take. */
  seconds: number;
}

export interface Tried {
  /** For each side, what is in the arguments of `written` then. */
  outputs: ArrayBuffer[][];
  /** For each timed side, microseconds of one launch, of each batch. */
  us: number[][];
  /** How it was timed: "timestamps of the GPU, 40 batches of 16 launches". */
  timing: string;
  /** Sides and arguments behind whose end something was written. */
  overrun: [number, number][];
}

/** Launches in order on memory that they share, with two sets of programs. */
export interface StepTrial {
  /** The distinct programs as the compiler chose them, and without optimizations. */
  made: Shader[];
  plain: Shader[];
  /** The memory, which begins with values of the run where `begins` has some, else with generated ones. */
  buffers: ShaderArgument[];
  begins: (ArrayBuffer | null)[];
  /** What memory held after the step in the run, by the number of the buffer. */
  ends: { buffer: number; bytes: ArrayBuffer }[];
  /** `shader` null: the second argument is copied into the first one. */
  launches: { shader: number | null; arguments: StepArgument[] }[];
  seconds: number;
}

/** Which memory an argument is: `bytes` of a buffer from `offset` on. */
export interface StepArgument {
  buffer: number;
  offset: number;
  bytes: number;
  written: boolean;
}

/** How far two contents of a buffer are apart, and its element that is furthest off. */
export interface Apart {
  buffer: number;
  error: number;
  /** The largest magnitude, at least 1. */
  magnitude: number;
  at: number;
  got: number;
  wanted: number;
}

export interface Stepped {
  /** Of each buffer that is written, how far both sets are apart; null: not compared. */
  outputs: Apart[] | null;
  /** Of each buffer of `ends`, how far it is from the run. */
  recorded: Apart[];
  /** Microseconds of the whole step, and of one launch of each program, many in a row. */
  us: number[];
  kernels: number[];
}

export type Ask =
  | { kind: "adapter" }
  | { kind: "run"; kernel: Shaders; how: Launch; seconds: number }
  | { kind: "bench"; kernel: Shaders; edited: Shaders; source: string | null }
  | { kind: "step"; trial: StepTrial };

export type Told =
  | { kind: "ready" }
  | { kind: "progress"; text: string }
  | { kind: "adapter"; adapter: Adapter }
  | { kind: "ran"; result: RunResult }
  | { kind: "benched"; result: Workbench }
  | { kind: "stepped"; stepped: Stepped }
  | { kind: "failed"; problem: ApiProblem };
