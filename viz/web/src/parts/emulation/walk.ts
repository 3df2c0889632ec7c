/**
 * What a warp did, instruction by instruction: registers, stores and accesses of each, and the next
 * instruction of some kind. An instruction is named by its number, from 0. Pure.
 */
import type { Served, Value, Walk } from "../../data/messages/emulation";

export interface Register {
  number: number;
  name: string;
  kind: string;
  /** Of each lane; null: never written. */
  values: readonly (Value | null)[];
  /** Whether the instruction wrote it, and the one that did last. */
  changed: boolean;
  since: number;
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

/** Where the lanes of the warp loaded or stored. */
export interface Access {
  space: string;
  argument: string;
  stores: boolean;
  bytes: number;
  /** Bytes of an element of the argument; 1 where it has none. */
  item: number;
  /** The first byte of each lane that takes part. */
  at: ReadonlyMap<number, number>;
  served: Served | null;
}

type Written = Walk["registers"][number];

/** Rows of each register in the order of the instructions, made once per walk. */
const histories = new WeakMap<Walk, ReadonlyMap<number, readonly Written[]>>();

function historyOf(walk: Walk): ReadonlyMap<number, readonly Written[]> {
  const known = histories.get(walk);
  if (known) return known;
  const found = new Map<number, Written[]>();
  for (const row of walk.registers) {
    const rows = found.get(row[1]);
    if (rows) rows.push(row);
    else found.set(row[1], [row]);
  }
  histories.set(walk, found);
  return found;
}

/** How many of some rows, sorted by their first number, have one below `end`. */
function before(rows: readonly (readonly [number, ...unknown[]])[], end: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]![0] < end) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The registers once an instruction was run; the one that was written last comes first. */
export function registersAt(walk: Walk, at: number): Register[] {
  const found: Register[] = [];
  for (const [number, rows] of historyOf(walk)) {
    const row = rows[before(rows, at + 1) - 1];
    if (!row) continue;
    const [since, , kind, value] = row;
    const values = Array.isArray(value) ? value : Array<Value>(walk.width).fill(value);
    const name = walk.names[number] ?? "?";
    found.push({ number, name, kind, values, changed: since === at, since });
  }
  return found.sort((a, b) => b.since - a.since);
}

/** The numbers of the registers that a line (from 1) writes, then of those that it reads. */
export const usedBy = (walk: Walk, line: number): readonly number[] =>
  walk.uses.find(([of]) => of === line)?.slice(1) ?? [];

/** What an instruction stored, and what other warps have stored since the one before. */
export function storedAt(walk: Walk, at: number): Memory[] {
  const inWarp = (thread: number): boolean =>
    thread >= walk.first && thread < walk.first + walk.width;
  return rowsAt(walk.memory, at).map(([, space, argument, bytes, , threads, places, values, was]) => {
    const item = itemOf(walk, argument);
    const cells = threads.map((thread, i): [number, Cell] => [
      thread,
      {
        place: `${argument || space}[${places[i]! / item}]`,
        values: values[i]!,
        before: was[i]!,
      },
    ]);
    return { space, argument, bytes, mine: threads.some(inWarp), cells: new Map(cells) };
  });
}

/** Where an instruction loaded and stored. */
export const accessesAt = (walk: Walk, at: number): Access[] =>
  rowsAt(walk.accesses, at).map(([, space, argument, stores, bytes, lanes, places, served]) => ({
    space,
    argument,
    stores,
    bytes,
    item: itemOf(walk, argument),
    at: new Map(lanes.map((lane, i) => [lane, places[i]!])),
    served: walk.served[served] ?? null,
  }));

function rowsAt<R extends readonly [number, ...unknown[]]>(rows: readonly R[], at: number): R[] {
  return rows.slice(before(rows, at), before(rows, at + 1));
}

const itemOf = (walk: Walk, argument: string): number =>
  walk.arguments.find(([name]) => name === argument)?.[3] || 1;

/** The line (from 1) of an instruction; 0 where there is none. */
export const lineAt = (walk: Walk, at: number): number => walk.line[at] ?? 0;

/** Whether a lane ran an instruction. */
export function ranAt(walk: Walk, at: number, lane: number): boolean {
  const mask = walk.active[at];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(lane)) & 1n) === 1n;
}

/** The next instruction that gives a register another value in some lane; the last one without any. */
export function toChange(walk: Walk, at: number, register: number): number {
  const rows = historyOf(walk).get(register) ?? [];
  return rows[before(rows, at + 1)]?.[0] ?? walk.line.length - 1;
}

/** The instructions that take extra wavefronts, in order. */
export const conflictsOf = (walk: Walk): number[] => [
  ...new Set(
    walk.accesses
      .filter(([, space, , , , , , served]) => space === "shared" && walk.served[served]?.extra)
      .map(([step]) => step),
  ),
];

/** The next (or, `back`, the last) of some instructions, in order; null without one. */
export function nextOf(all: readonly number[], at: number, back = false): number | null {
  return (back ? all.findLast((one) => one < at) : all.find((one) => one > at)) ?? null;
}

/** The next instruction of a line after `at`, else its first one; null for a line without any. */
export function toLine(walk: Walk, at: number, line: number): number | null {
  const next = walk.line.indexOf(line, at + 1);
  const found = next < 0 ? walk.line.indexOf(line) : next;
  return found < 0 ? null : found;
}
