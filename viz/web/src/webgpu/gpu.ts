/**
 * The GPU of this browser. One worker runs one request at a time; what is given up, or takes too
 * long, ends the worker with its device, and the next request gets a new one.
 */
import GpuWorker from "./gpu.worker?worker&inline";
import type { Launch, RunResult } from "../data/messages/kernel";
import type { Shaders } from "../data/messages/trials/shaders";
import type { Workbench } from "../data/messages/trials/workbench";
import type { Adapter, Ask, Stepped, StepTrial, Told } from "./device/protocol";
import { GpuProblem } from "./values/problem";

/** A worker that says nothing for this long hangs, ms. */
const SILENT_MS = 20_000;
/** Until it has started, and found a GPU. */
const START_MS = 10_000;

let worker: Worker | null = null;
let turn: Promise<unknown> = Promise.resolve();
let known: Promise<Adapter> | null = null;

/** The GPU; rejects with why there is none. */
export function adapter(): Promise<Adapter> {
  known ??= ask({ kind: "adapter" }, START_MS).then((told) => {
    if (told.kind === "adapter") return told.adapter;
    throw new Error(told.kind);
  });
  known.catch(() => (known = null));
  return known;
}

/** Runs a kernel that was made as `how` says, or an edited text in place of it; its times take about `seconds`.
 * Rejects with a problem, and with an AbortError once given up. */
export async function runHere(
  kernel: Shaders,
  how: Launch,
  progress: (text: string) => void,
  signal: AbortSignal,
  seconds: number,
): Promise<RunResult> {
  const told = await ask({ kind: "run", kernel, how, seconds }, SILENT_MS, progress, signal);
  if (told.kind === "ran") return told.result;
  throw new Error(told.kind);
}

/** Runs both, `kernel` and what `edited` makes of it: compiled otherwise, with the text `source` where the
 * reader has edited it. Rejects as `runHere`. */
export async function benchHere(
  kernel: Shaders,
  edited: Shaders,
  source: string | null,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Workbench> {
  const told = await ask({ kind: "bench", kernel, edited, source }, SILENT_MS, progress, signal);
  if (told.kind === "benched") return told.result;
  throw new Error(told.kind);
}

/** See StepTrial. Rejects as `runHere`. */
export async function tryStep(
  trial: StepTrial,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Stepped> {
  const told = await ask({ kind: "step", trial }, SILENT_MS, progress, signal);
  if (told.kind === "stepped") return told.stepped;
  throw new Error(told.kind);
}

function ask(
  what: Ask,
  patience: number,
  progress: (text: string) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Told> {
  const mine = turn.then(() => one(what, patience, progress, signal));
  turn = mine.catch(() => undefined);
  return mine;
}

function one(
  what: Ask,
  patience: number,
  progress: (text: string) => void,
  signal?: AbortSignal,
): Promise<Told> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new DOMException("cancelled", "AbortError"));
      return;
    }
    const now = (worker ??= new GpuWorker());
    let timer: ReturnType<typeof setTimeout>;
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      now.onmessage = now.onerror = null;
    };
    const drop = (why: Error): void => {
      end();
      now.terminate();
      worker = known = null;
      reject(why);
    };
    const giveUp = (): void => drop(new DOMException("cancelled", "AbortError"));
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(
        () =>
          drop(
            new GpuProblem(
              `The GPU did not answer for ${patience / 1000} seconds`,
              "WebGPU",
              "It takes too long, or never ends. It was given up, and the next run asks for the GPU anew.",
            ),
          ),
        patience,
      );
    };
    now.onmessage = ({ data }: MessageEvent<Told>) => {
      if (data.kind === "ready") return;
      if (data.kind === "progress") {
        wait();
        progress(data.text);
        return;
      }
      end();
      if (data.kind === "failed") {
        const { what: said, where, hint } = data.problem;
        reject(new GpuProblem(said, where, hint));
      } else resolve(data);
    };
    now.onerror = (event) => {
      event.preventDefault();
      drop(new GpuProblem(event.message || "The worker for the GPU did not start", "WebGPU", ""));
    };
    signal?.addEventListener("abort", giveUp);
    wait();
    now.postMessage(what);
  });
}
