/** Kernels run on the GPU of this browser. In an exported file the code comes from the author of the file: it
 * runs once the reader has said so. */
import { computed, signal } from "@preact/signals";
import { BROWSER } from "../../data/browser";
import { asProblem } from "../../data/backend";
import type { Launch, RunResult } from "../../data/messages/kernel";
import type { Shaders } from "../../data/messages/trials/shaders";
import type { BenchHow, Workbench } from "../../data/messages/trials/workbench";
import { data } from "../../state/actions";
import { adapter, benchHere, runHere } from "../../webgpu/gpu";
import { checked } from "../../webgpu/values/checked";
import { type Choices, COMPILERS, sameChoices } from "../kernel/versions";

export const isHere = (device: string): boolean => device === BROWSER;

/** What the browser says of its GPU; "" before it was asked. */
export const gpuName = signal("");

/** Asks the browser for its GPU. */
export function askGpuName(): void {
  adapter().then(
    ({ name }) => (gpuName.value = name),
    (why: unknown) => (gpuName.value = asProblem(why, "").what),
  );
}

/** Runs that wait for the reader to say whether code of this file may run: all get one answer. */
const waiting = signal<ReadonlySet<(may: boolean) => void>>(new Set());
/** Whether the reader is asked now. */
export const asksConsent = computed(() => waiting.value.size > 0);
let allowed = false;

/** The reader's answer; a yes holds until the page is closed. */
export function answerConsent(may: boolean): void {
  allowed ||= may;
  for (const answer of waiting.peek()) answer(may);
}

/** Resolves once code may run; rejects with an AbortError where it may not. A server's code is made by the
 * compiler of this machine. */
export async function consent(signal: AbortSignal): Promise<void> {
  if (allowed || data().server) return;
  const may = await new Promise<boolean>((resolve) => {
    const answer = (given: boolean): void => {
      const others = new Set(waiting.peek());
      others.delete(answer);
      waiting.value = others;
      resolve(given);
    };
    waiting.value = new Set(waiting.peek()).add(answer);
    signal.addEventListener("abort", () => answer(false), { once: true });
  });
  if (!may) throw new DOMException("not allowed", "AbortError");
}

/** A kernel for WebGPU, which the file has or the server compiles. Rejects with a problem. */
export async function kernelHere(
  context: number,
  how: Choices,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Shaders> {
  return checked(await data().shadersOf(context, how, progress, signal));
}

/** Seconds for the times of a kernel. */
const SECONDS = 1.5;

/** Compiles a kernel for WebGPU, or takes it from the file, and runs it; its times take about `seconds`.
 * Rejects with a problem, and with an AbortError once given up. */
export async function launchHere(
  context: number,
  how: Launch,
  progress: (text: string) => void,
  signal: AbortSignal,
  seconds = SECONDS,
): Promise<RunResult> {
  await consent(signal);
  askGpuName();
  progress("compiling to WGSL");
  const kernel = await kernelHere(context, how, progress, signal);
  return runHere(kernel, how, progress, signal, seconds);
}

/** A kernel as it is, and as `how` changes it, in turn. Rejects as `launchHere`. */
export async function benchBothHere(
  context: number,
  how: BenchHow,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Workbench> {
  await consent(signal);
  progress("compiling to WGSL");
  const made = (of: Choices): Promise<Shaders> =>
    kernelHere(context, of, progress, signal);
  const own = await made(COMPILERS);
  const edited = sameChoices(how, COMPILERS) ? own : await made(how);
  return benchHere(own, edited, how.source?.text ?? null, progress, signal);
}
