/** What the worker says of a kernel that it ran on an emulated GPU. */
import type { ApiProblem } from "./job";

/** One value of a register; integers that a number does not hold exactly, and infinities and NaN, as text. */
export type Value = number | boolean | string;

export interface Emulation {
  device: string;
  target: string;
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
    warps: number[];
    divergent: number[];
    /** Sectors of 32 bytes that global accesses touch, and how few could hold as many bytes. */
    sectors: number[];
    least: number[];
    /** Turns of shared memory beyond the first of each access. */
    conflicts: number[];
    /** Bytes by space. */
    loaded: Record<string, number>[];
    stored: Record<string, number>[];
  };
  /** Threads by instruction. */
  kinds: Record<string, number>;
  total: number;
}

/** The instructions that one warp ran, in order. */
export interface Walk {
  block: number;
  warp: number;
  /** How many threads the warp has. */
  width: number;
  /** Of registers, by number. */
  names: string[];
  /** Of each step: its line (from 1), and a bit in hexadecimal for each thread that ran it. */
  line: number[];
  active: string[];
  /** [step, register, kind, value of all threads, or a list with null where nothing was written]. */
  registers: [number, number, string, Value | (Value | null)[]][];
  /** [step, space, argument, byte of each thread, bytes]. */
  memory: [number, string, string, (number | null)[], number][];
  fault: Fault | null;
  /** Whether the warp goes on behind the last step. */
  more: boolean;
}
