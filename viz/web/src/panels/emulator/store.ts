/** The emulation of the current kernel: asked for, followed, stepped through. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import type { Emulation } from "../../data/messages/emulation";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import { toBreakpoint, toChange } from "./walk";
import { kernel, progress } from "../../parts/kernel/kernel";
import { runOpts } from "../../parts/run/RunHow";
import { data } from "../../state/actions";
import { openDrawer } from "../../state/drawer";
import { run } from "../../state/state";

type State =
  | { kind: "idle" }
  | { kind: "running"; progress: string }
  | { kind: "done"; result: Emulation }
  | { kind: "error"; error: ApiProblem };

export const state = signal<State>({ kind: "idle" });
export const emulation = computed(() => (state.value.kind === "done" ? state.value.result : null));
/** How many instructions of the warp were run. */
export const steps = signal(0);
/** Lines (from 1) before which it stops. */
export const breakpoints = signal<ReadonlySet<number>>(new Set());
export const device = signal<string | null>(null);
export const block = signal(0);
export const warp = signal(0);
/** Asked for before a device was known. */
const waiting = signal(false);
let job: AbortController | null = null;

/** The emulated devices that are here. */
export const devices = computed(() =>
  (run.value?.devices ?? []).filter((name) => name.includes(":EMU")),
);
export const chosenDevice = computed(() => device.value ?? devices.value[0] ?? null);

/** What was emulated belongs to one kernel and goes with it. */
export function startEmulator(): void {
  effect(() => {
    void kernel.value?.context;
    job?.abort();
    state.value = { kind: "idle" };
    breakpoints.value = new Set();
    block.value = 0;
    warp.value = 0;
    waiting.value = false;
  });
  effect(() => {
    if (waiting.value && chosenDevice.value !== null) void emulate();
  });
}

/** Whether there is something to emulate; the devices may not be known yet. */
export const canEmulate = (): boolean =>
  data().server !== null &&
  kernel.value !== null &&
  progress.value === "finished" &&
  (run.value?.targets ?? []).length > 0;

/** Emulates the kernel, as soon as a device is known. */
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
  const how = { device: on, block: block.peek(), warp: warp.peek(), opts: runOpts.peek() };
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
    steps.value = 0;
    state.value = { kind: "done", result };
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    state.value = { kind: "error", error: asProblem(thrown, k.name) };
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

/** To the next breakpoint, or the one before. */
export function runOn(back = false): void {
  const found = emulation.peek();
  if (found) goTo(toBreakpoint(found.walk, steps.peek(), breakpoints.peek(), back));
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
