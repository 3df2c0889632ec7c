/** Stepping through what a warp did: registers after a step, and where to stop next. Pure. */
import type { Value, Walk } from "../../data/messages/emulation";

export interface Register {
  name: string;
  kind: string;
  /** Of each thread; null: never written. */
  values: readonly (Value | null)[];
  /** Whether the last step wrote it. */
  changed: boolean;
}

export interface Cell {
  /** "data0[5]", "shared[20]". */
  place: string;
  values: readonly Value[];
  before: readonly Value[];
}

export interface Memory {
  space: string;
  /** The argument, of global memory. */
  argument: string;
  bytes: number;
  /** Whether the warp itself stored it. */
  mine: boolean;
  /** By thread of the block. */
  cells: ReadonlyMap<number, Cell>;
}

/** The registers after `steps` instructions, in the order in which they were first written. */
export function registersAfter(walk: Walk, steps: number): Register[] {
  const found = new Map<number, Register>();
  for (const [step, number, kind, value] of walk.registers) {
    if (step >= steps) break;
    const values = Array.isArray(value) ? value : Array<Value>(walk.width).fill(value);
    const changed = step === steps - 1;
    found.set(number, { name: walk.names[number] ?? "?", kind, values, changed });
  }
  return [...found.values()];
}

/** What the last of `steps` instructions stored, and what other warps have stored since the one before. */
export function storedBy(walk: Walk, steps: number): Memory[] {
  const inWarp = (thread: number): boolean =>
    thread >= walk.first && thread < walk.first + walk.width;
  return walk.memory
    .filter(([step]) => step === steps - 1)
    .map(([, space, argument, bytes, , threads, at, values, before]) => {
      const item = walk.arguments.find(([name]) => name === argument)?.[3] ?? 1;
      const cells = threads.map((thread, i): [number, Cell] => [
        thread,
        {
          place: `${argument || space}[${at[i]! / item}]`,
          values: values[i]!,
          before: before[i]!,
        },
      ]);
      return { space, argument, bytes, mine: threads.some(inWarp), cells: new Map(cells) };
    });
}

/** The line that comes next (from 1); 0 at the end. */
export const nextLine = (walk: Walk, steps: number): number => walk.line[steps] ?? 0;

/** Whether a thread runs, or ran, the instruction after `steps` of them. */
export function isActive(walk: Walk, steps: number, thread: number): boolean {
  const mask = walk.active[steps];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(thread)) & 1n) === 1n;
}

/** How many steps lead to where a register's value in some thread is next another than now. */
export function toChange(walk: Walk, steps: number, name: string): number {
  const number = walk.names.indexOf(name);
  for (const [step, register] of walk.registers)
    if (step >= steps && register === number) return step + 1;
  return walk.line.length;
}
