/** What the worker says of a kernel that it ran on an emulated GPU. */
import type { ApiProblem } from "./job";

/** One value of a register; integers that a number does not hold exactly, and infinities and NaN, as text. */
export type Value = number | boolean | string;

export interface Emulation {
  device: string;
  target: string;
  /** The optimisations that were asked for; null: the compiler's own choice. */
  opts: string | null;
  /** The kind of the text that the user had edited; null: the compiler's own. */
  source: string | null;
  /** The kind of `text`. */
  kind: string;
  text: string;
  grid: [number, number, number];
  threads: [number, number, number];
  /** Of how many blocks the counters are, and how many there are. */
  blocks: [number, number];
  counters: Counters;
  /** What ended the whole launch early. */
  fault: Fault | null;
  walk: Walk;
}

export interface Fault extends ApiProblem {
  line: number;
}

export interface Counters {
  /** A row for each line (from 1) that threads ran. */
  lines: {
    line: number[];
    /** How often a thread ran it, and a warp; `divergent`: with some of its threads only. */
    threads: number[];
    /** How many threads the warps that ran it have. */
    lanes: number[];
    warps: number[];
    divergent: number[];
    /** Sectors of 32 bytes that global accesses touch, and how few could hold as many bytes. */
    sectors: number[];
    least: number[];
    /** Extra wavefronts of its accesses of shared memory. */
    conflicts: number[];
    /** Wavefronts of the slowest phase of one of these accesses; 0 where there is none. */
    ways: number[];
    /** Bytes by space. */
    loaded: Record<string, number>[];
    stored: Record<string, number>[];
  };
  /** Threads by instruction. */
  kinds: Record<string, number>;
  total: number;
}

/**
 * [step, space, argument, bytes of each access, bytes of an element, threads, first byte of each,
 * elements of each, what was there before].
 */
export type StoredRow = [
  step: number,
  space: string,
  argument: string,
  bytes: number,
  item: number,
  threads: number[],
  at: number[],
  values: Value[][],
  before: Value[][],
];

/**
 * What memory makes of one access of a warp (core/runtime/emulator/memory/banks.py). `hits`: [bank, or sector
 * counted from the first one; wavefront; lanes that are served together].
 */
export interface Served {
  hits: [place: number, wavefront: number, lanes: number[]][];
  /** The first wavefront of each phase. */
  first: number[];
  /** Wavefronts of the slowest phase, and those of all phases beyond one each. */
  ways: number;
  extra: number;
  /** The fewest sectors that hold as many bytes. */
  least: number;
}

/** [step, space, argument, whether it stores, bytes of each lane, lanes, first byte of each, number in `served`]. */
export type AccessRow = [
  step: number,
  space: string,
  argument: string,
  stores: boolean,
  bytes: number,
  lanes: number[],
  at: number[],
  served: number,
];

/** The instructions that one warp ran, in order. */
export interface Walk {
  block: number;
  warp: number;
  /** The number of its first thread in the block, and how many threads it has. */
  first: number;
  width: number;
  /** Of registers, by number. */
  names: string[];
  /** Of each step: its line (from 1), and a bit in hexadecimal for each thread that ran it. */
  line: number[];
  active: string[];
  /** [step, register, kind, value of all threads, or a list with null where nothing was written]. */
  registers: [number, number, string, Value | (Value | null)[]][];
  /** What was stored, by other warps of the block, too. */
  memory: StoredRow[];
  /** Where the warp loaded and stored, parameters apart. */
  accesses: AccessRow[];
  served: Served[];
  /** [line, registers that its instructions write, then those that they read]. */
  uses: number[][];
  /** Steps whose stores of other warps are all here; null: of all steps. */
  known: number | null;
  /** Of each argument that is memory: name, dtype, elements, bytes of an element. */
  arguments: [string, string, number, number][];
  fault: Fault | null;
  /** Whether the warp goes on behind the last step. */
  more: boolean;
}
