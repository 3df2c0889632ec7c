/** Where the stepping through a warp stops: at lines, and where conditions come true. Pure. */
import type { Value, Walk } from "../../data/messages/emulation";
import { compares, type Condition, type Test } from "./condition";

/** A condition that came true with an instruction: for the first of the threads for which it did. */
export interface Stop {
  /** The number of the instruction, from 0. */
  at: number;
  condition: number;
  thread: number;
}

/** All places at which conditions come true: after each instruction that writes the place and leaves it so. */
export function stopsOf(walk: Walk, conditions: readonly Condition[]): Stop[] {
  const found = conditions.flatMap((condition, number) =>
    (condition.place.kind === "register"
      ? registerStops(walk, condition, condition.place.number)
      : memoryStops(walk, condition, condition.place)
    ).map(({ at, thread }) => ({ at, thread, condition: number })),
  );
  return found.sort((a, z) => a.at - z.at || a.condition - z.condition);
}

type Found = Omit<Stop, "condition">;

function registerStops(walk: Walk, { thread, test }: Condition, register: number): Found[] {
  const found: Found[] = [];
  const before: (Value | null)[] = Array<Value | null>(walk.width).fill(null);
  for (const [step, number, kind, value] of walk.registers) {
    if (number !== register) continue;
    const ran = BigInt(`0x${walk.active[step] ?? "0"}`);
    let first = -1;
    for (let t = 0; t < walk.width; t++) {
      const now = Array.isArray(value) ? (value[t] ?? null) : value;
      const mine = thread === null || thread === walk.first + t;
      const wrote = ((ran >> BigInt(t)) & 1n) === 1n;
      if (first < 0 && mine && wrote && passes(test, before[t]!, now, kind)) first = t;
      before[t] = now;
    }
    if (first >= 0) found.push({ at: step, thread: walk.first + first });
  }
  return found;
}

function memoryStops(
  walk: Walk,
  { thread, test }: Condition,
  place: { space: string; argument: string; at: number },
): Found[] {
  const found: Found[] = [];
  for (const [step, space, argument, bytes, item, threads, at, values, before] of walk.memory) {
    if (space !== place.space || argument !== place.argument) continue;
    // The last store of a byte is what stays, where several threads write it at once.
    const i = at.findLastIndex(
      (from, k) =>
        from <= place.at && place.at < from + bytes && (thread === null || threads[k] === thread),
    );
    if (i < 0) continue;
    const element = Math.floor((place.at - at[i]!) / item);
    const [was, now] = [before[i]?.[element] ?? null, values[i]?.[element] ?? null];
    if (passes(test, was, now, "")) found.push({ at: step, thread: threads[i]! });
  }
  return found;
}

function passes(test: Test, before: Value | null, now: Value | null, kind: string): boolean {
  if (now === null) return false;
  if (test.kind === "relation") return compares(now, kind, test);
  return test.kind === "written" || now !== before;
}

/** The next (or, `back`, the last) instruction to stop at; the last (or first) one where there is none. */
export function toStop(
  walk: Walk,
  from: number,
  lines: ReadonlySet<number>,
  stops: readonly Stop[],
  back = false,
): number {
  let found = back ? 0 : walk.line.length - 1;
  const look = (at: number): void => {
    if (back ? at < from && at > found : at > from && at < found) found = at;
  };
  walk.line.forEach((line, i) => lines.has(line) && look(i));
  stops.forEach((stop) => look(stop.at));
  return found;
}
