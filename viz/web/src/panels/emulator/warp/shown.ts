/** Which registers are columns, which are named once, and in what words. */
import { signal } from "@preact/signals";
import type { Value } from "../../../data/messages/emulation";
import type { Access, Register } from "../../../parts/emulation/walk";

/** Names of registers that the reader wants to see whatever the instruction uses. */
export const picked = signal<ReadonlySet<string>>(new Set());

export function pick(name: string): void {
  const next = new Set(picked.peek());
  if (!next.delete(name)) next.add(name);
  picked.value = next;
}

interface Arranged {
  /** Have a column: picked ones, those that the line uses, then the ones written last. */
  columns: readonly Register[];
  /** Have one value in all lanes; those that the line uses first. */
  equal: readonly Register[];
  /** Have no column, for want of room. */
  rest: number;
}

export function arrange(
  registers: readonly Register[],
  used: readonly number[],
  wanted: ReadonlySet<string>,
  room: number,
): Arranged {
  const rank = (r: Register): number => {
    if (wanted.has(r.name)) return -1;
    const at = used.indexOf(r.number);
    return at < 0 ? used.length : at;
  };
  const shown = registers.filter((r) => r.name !== "_");
  const sorted = [...shown].sort((a, b) => rank(a) - rank(b) || b.since - a.since);
  const parted = sorted.filter((r) => wanted.has(r.name) || !isEqual(r.values));
  return {
    columns: parted.slice(0, room),
    equal: sorted.filter((r) => !wanted.has(r.name) && isEqual(r.values)),
    rest: Math.max(0, parted.length - room),
  };
}

const isEqual = (values: readonly (Value | null)[]): boolean =>
  values.length > 1 && values[0] !== null && values.every((v) => v === values[0]);

/** Addresses of devices are large; people read them in base 16. */
const LARGE = 2 ** 32;

/** A value in few characters. */
export function shown(value: Value | null): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "string" && /^\d{11,}$/.test(value)) return `0x${BigInt(value).toString(16)}`;
  if (typeof value !== "number") return value;
  if (Number.isInteger(value)) return value >= LARGE ? `0x${value.toString(16)}` : `${value}`;
  return Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4
    ? value.toExponential(3)
    : `${Number(value.toPrecision(5))}`;
}

/** Where a lane's access begins: "0x0c00", "data0[12]". */
export function place({ argument, item }: Access, at: number): string {
  if (!argument) return `0x${at.toString(16).padStart(4, "0")}`;
  return at % item ? `${argument} + ${at} B` : `${argument}[${at / item}]`;
}

/** The banks or sectors of each lane: "8", "8–11". */
export function placesOf({ served }: Access): ReadonlyMap<number, string> {
  const found = new Map<number, number[]>();
  for (const [at, , lanes] of served?.hits ?? [])
    for (const lane of lanes) {
      const all = found.get(lane);
      if (all) all.push(at);
      else found.set(lane, [at]);
    }
  return new Map(
    [...found].map(([lane, all]) => {
      const [low, high] = [Math.min(...all), Math.max(...all)];
      return [lane, low === high ? `${low}` : `${low}–${high}`];
    }),
  );
}
