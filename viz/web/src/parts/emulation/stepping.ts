/** Where in what a warp did the reader is, and where the stepping stops. */
import { computed, signal } from "@preact/signals";
import type { Walk } from "../../data/messages/emulation";
import { announce, go } from "../../state/actions";
import { type Condition, ConditionError, parseCondition } from "./condition";
import { emulatorLink } from "./link";
import { emulation } from "./store";
import { type Stop, stopsOf, toStop } from "./stops";
import { conflictsOf, lineAt, nextOf, toChange, toLine } from "./walk";

/** The instruction that is looked at, from 0: what it did is shown. */
export const at = computed(() => {
  const last = (emulation.value?.walk.line.length ?? 0) - 1;
  return Math.max(0, Math.min(emulatorLink.value.at, last));
});

/** Its line, from 1; 0 where the warp ran nothing. */
export const line = computed(() => (emulation.value ? lineAt(emulation.value.walk, at.value) : 0));

/** Lines (from 1) that it stops at. */
export const breakpoints = signal<ReadonlySet<number>>(new Set());
/** Conditions to stop at, as they were written. */
export const conditions = signal<readonly string[]>([]);

/** What one kernel is stopped at means nothing for another. */
export function clearStops(): void {
  breakpoints.value = new Set();
  conditions.value = [];
}

/** Goes to an instruction, or as far towards it as there are some. */
export function goTo(wanted: number): void {
  const last = (emulation.peek()?.walk.line.length ?? 0) - 1;
  const to = Math.max(0, Math.min(wanted, last));
  if (last >= 0 && to !== emulatorLink.peek().at) go({}, "replace", emulatorLink.with({ at: to }));
}

export const stepBy = (count: number): void => goTo(at.peek() + count);

/** To the next instruction of a line. False where the warp has none. */
export function goToLine(wanted: number): boolean {
  const walk = emulation.peek()?.walk;
  const found = walk ? toLine(walk, at.peek(), wanted) : null;
  if (found !== null) goTo(found);
  else announce(`This warp does not run line ${wanted}`);
  return found !== null;
}

/** Instructions with bank conflicts. */
export const conflicts = computed<readonly number[]>(() =>
  emulation.value ? conflictsOf(emulation.value.walk) : [],
);

/** To the next instruction with a bank conflict, or the one before. */
export function goToConflict(back = false): void {
  const found = nextOf(conflicts.peek(), at.peek(), back);
  if (found !== null) goTo(found);
  else announce(`No instruction ${back ? "before" : "after"} this one has bank conflicts`);
}

/** A condition as it was written, with what is wrong with it in what was emulated. */
export interface Written {
  text: string;
  condition: Condition | null;
  problem: string;
}

export const written = computed<readonly Written[]>(() => {
  const walk = emulation.value?.walk;
  return walk ? conditions.value.map((text) => read(text, walk)) : [];
});

function read(text: string, walk: Walk): Written {
  try {
    return { text, condition: parseCondition(text, walk), problem: "" };
  } catch (thrown) {
    if (!(thrown instanceof ConditionError)) throw thrown;
    return { text, condition: null, problem: thrown.message };
  }
}

/** Where the conditions come true; `condition` counts in `written`. */
export const stops = computed<readonly Stop[]>(() => {
  const walk = emulation.value?.walk;
  if (!walk) return [];
  const valid = written.value.flatMap((w, at) => (w.condition ? [{ at, is: w.condition }] : []));
  const found = stopsOf(
    walk,
    valid.map((v) => v.is),
  );
  return found.map((stop) => ({ ...stop, condition: valid[stop.condition]!.at }));
});

/** Adds a condition; what is wrong with it, or "". */
export function addCondition(text: string): string {
  const walk = emulation.peek()?.walk;
  if (!walk) return "";
  const { problem } = read(text, walk);
  const all = conditions.peek();
  const trimmed = text.trim();
  if (!problem && !all.includes(trimmed)) conditions.value = [...all, trimmed];
  return problem;
}

export const removeCondition = (index: number): void => {
  conditions.value = conditions.peek().filter((_, i) => i !== index);
};

/** To the next place to stop, or the one before. */
export function runOn(back = false): void {
  const found = emulation.peek();
  if (found) goTo(toStop(found.walk, at.peek(), breakpoints.peek(), stops.peek(), back));
}

/** To where a register is written next. */
export function runToChange(register: number): void {
  const found = emulation.peek();
  if (found) goTo(toChange(found.walk, at.peek(), register));
}

export function toggleBreakpoint(of: number): void {
  const next = new Set(breakpoints.peek());
  if (!next.delete(of)) next.add(of);
  breakpoints.value = next;
}
