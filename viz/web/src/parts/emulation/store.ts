/** The emulation of the current kernel: asked for, followed, stepped through. */
import { computed, effect, signal, untracked } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import type { Emulation, Walk } from "../../data/messages/emulation";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import { columnKey, kindOf } from "../kernel/columns";
import { kernel, progress } from "../kernel/kernel";
import { runOpts } from "../run/RunHow";
import { editOf, outcomeOf } from "../source/edits";
import { type Condition, ConditionError, parseCondition } from "./condition";
import { type Stop, stopsOf, toStop } from "./stops";
import { toChange } from "./walk";
import { data, reportProblem } from "../../state/actions";
import { openDrawer } from "../../state/drawer";
import { run } from "../../state/state";

type State =
  | { kind: "idle" }
  | { kind: "running"; progress: string }
  | { kind: "done"; result: Emulation }
  /** `text`: what was to be emulated, where it was edited. */
  | { kind: "error"; error: ApiProblem; text: string | null };

export const state = signal<State>({ kind: "idle" });
export const emulation = computed(() => (state.value.kind === "done" ? state.value.result : null));
/** How many instructions of the warp were run. */
export const steps = signal(0);
/** Lines (from 1) before which it stops. */
export const breakpoints = signal<ReadonlySet<number>>(new Set());
/** Conditions to stop at, as they were written. */
export const conditions = signal<readonly string[]>([]);
export const device = signal<string | null>(null);
export const block = signal(0);
export const warp = signal(0);
/** Whether the text that the user edits is emulated, where there is one. */
export const wantsEdited = signal(true);
/** What was emulated of the kernel before, here or by whoever exported the run, the newest last. */
export const held = signal<readonly Emulation[]>([]);
/** Asked for before a device was known. */
const waiting = signal(false);
let job: AbortController | null = null;

/** The emulated devices that are here. */
export const devices = computed(() =>
  (run.value?.devices ?? []).filter((name) => name.includes(":EMU")),
);
export const chosenDevice = computed(() => device.value ?? devices.value[0] ?? null);

/** The column whose text the device runs, where it can be edited. */
export const emulatedColumn = computed(() => {
  const all = (run.value?.editable ?? []).filter((e) => e.device === chosenDevice.value);
  const columns = all.filter((e) => !e.missing).map(columnKey);
  return columns.find((column) => editOf(column)) ?? columns[0] ?? null;
});

/** The edited text that would be emulated; null where there is none. */
const editedText = (): string | null => {
  const column = emulatedColumn.value;
  return column === null ? null : (editOf(column)?.text ?? null);
};

/** Whether the text that was emulated is an edited one, which has changed since. */
export const isOutdated = computed(
  () => emulation.value?.source != null && editedText() !== emulation.value.text,
);

/** What was emulated belongs to one kernel and goes with it. */
export function startEmulator(): void {
  effect(() => {
    void kernel.value?.context;
    job?.abort();
    state.value = { kind: "idle" };
    breakpoints.value = new Set();
    conditions.value = [];
    block.value = 0;
    warp.value = 0;
    wantsEdited.value = true;
    waiting.value = false;
    held.value = [];
    untracked(takeHeld);
  });
  effect(() => {
    if (waiting.value && chosenDevice.value !== null) void untracked(emulate);
  });
}

/** Shows what was emulated of the kernel before, where something was. */
function takeHeld(): void {
  const k = kernel.peek();
  if (!k || !run.peek()?.emulated?.includes(k.context)) return;
  data()
    .emulated(k.context)
    .then((found) => {
      if (kernel.peek() !== k) return;
      held.value = found;
      const newest = found.at(-1);
      if (newest && state.peek().kind === "idle") show(newest);
    })
    .catch((thrown: unknown) => reportProblem(asProblem(thrown, k.name)));
}

/** Shows an emulation: from its first step on, or where the warp's fault is. */
export function show(result: Emulation): void {
  steps.value = result.walk.fault ? result.walk.line.length : 0;
  state.value = { kind: "done", result };
}

/** Whether there is something to emulate; the devices may not be known yet. */
export const canEmulate = (): boolean =>
  data().server !== null &&
  kernel.value !== null &&
  progress.value === "finished" &&
  (run.value?.targets ?? []).length > 0;

/** Whether the device of some emulator runs the text of a column. */
export const canEmulateColumn = (column: string): boolean =>
  canEmulate() && emulates(column) !== null;

const emulates = (column: string): string | null =>
  run.value?.editable.find(
    (e) => e.device.includes(":EMU") && !e.missing && columnKey(e) === column,
  )?.device ?? null;

/** Emulates the text of a column as the user has edited it. */
export function emulateColumn(column: string): void {
  device.value = emulates(column);
  wantsEdited.value = true;
  void emulate();
}

/** Emulates the kernel, or its edited text, as soon as a device is known. */
export async function emulate(): Promise<void> {
  const { server } = data();
  const k = kernel.peek();
  const on = chosenDevice.peek();
  if (!server || !k) return;
  openDrawer("emulator");
  waiting.value = on === null;
  if (on === null) return;
  job?.abort();
  const mine = (job = new AbortController());
  state.value = { kind: "running", progress: `Starting on ${on}` };
  const column = emulatedColumn.peek();
  const text = wantsEdited.peek() ? untracked(editedText) : null;
  const source = column !== null && text !== null ? { kind: kindOf(column), text } : null;
  const opts = source ? null : runOpts.peek();
  const how = { device: on, block: block.peek(), warp: warp.peek(), opts, source };
  const noted = column !== null && text !== null ? outcomeOf(column, text) : () => undefined;
  try {
    const result = await follow<Emulation>(
      server,
      () => server.emulate(k.context, how),
      (said) => {
        if (!mine.signal.aborted) state.value = { kind: "running", progress: said };
      },
      mine.signal,
    );
    if (mine.signal.aborted) return;
    show(result);
    noted(null);
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    const error = asProblem(thrown, k.name);
    state.value = { kind: "error", error, text };
    noted(error);
  }
}

export function cancelEmulation(): boolean {
  if (state.peek().kind !== "running") return false;
  job?.abort();
  state.value = { kind: "idle" };
  return true;
}

/** Goes to where `wanted` instructions were run, as far as there are so many. */
export function goTo(wanted: number): void {
  const found = emulation.peek();
  if (found) steps.value = Math.max(0, Math.min(wanted, found.walk.line.length));
}

export const stepBy = (count: number): void => goTo(steps.peek() + count);

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

export const removeCondition = (at: number): void => {
  conditions.value = conditions.peek().filter((_, i) => i !== at);
};

/** To the next place to stop, or the one before. */
export function runOn(back = false): void {
  const found = emulation.peek();
  if (found) goTo(toStop(found.walk, steps.peek(), breakpoints.peek(), stops.peek(), back));
}

/** To where a register is written next. */
export function runToChange(register: string): void {
  const found = emulation.peek();
  if (found) goTo(toChange(found.walk, steps.peek(), register));
}

export function toggleBreakpoint(line: number): void {
  const next = new Set(breakpoints.peek());
  if (!next.delete(line)) next.add(line);
  breakpoints.value = next;
}
