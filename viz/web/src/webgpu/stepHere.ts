/** A captured step of a program run on the GPU of this browser: its launches in order, on shared memory, which
 * begins with values of the run where the trace has them. */
import type { ShaderArgument, Shaders } from "../data/messages/trials/shaders";
import type { StepMemory, StepValues } from "../data/messages/trials/stepvalues";
import { tryStep } from "./gpu";
import { GpuProblem } from "./values/problem";
import type { Apart, StepArgument } from "./device/protocol";
import { bytesOf } from "./values/dtypes";
import { isRead, type Plan, type PlanBuffer } from "./values/plan";
import { checkSize } from "./values/checked";
import { median } from "./values/turns";

/** Roundings of one launch become inputs of the next: what all of them together may be off, of the largest. */
const ALLOWED = 1e-2;
const SECONDS = 2;

/** Memory of the step: what it began with, and how what it holds at the end compares with the run. */
export interface StepPart extends PlanBuffer {
  /** "recorded" values of the run, "generated" ones, or "" where the step makes it. */
  began: "recorded" | "generated" | "";
  ended: (Apart & { equal: boolean }) | null;
}

export interface StepResult {
  /** Microseconds of the whole step: median, and each time. */
  median: number;
  us: number[];
  /** Whether both sets of programs agree; null: not compared. */
  equal: boolean | null;
  /** Whether it is as in the run; null where that is not known. */
  asRecorded: boolean | null;
  launches: number;
  memory: StepPart[];
  /** Its kernels, in the order of their first launches. */
  kernels: { name: string; launches: number; us: number }[];
}

/** Runs the step with the compiler's programs, compares them with those without optimizations, and with what the
 * run left behind, and times it. `kernels` by name. Rejects with a problem, and with an AbortError once given up. */
export async function stepHere(
  plan: Plan,
  kernels: ReadonlyMap<string, Shaders>,
  values: StepValues | null,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<StepResult> {
  checkSize(plan.buffers);
  const launched = plan.steps.map((step) => step.kernel).filter((name) => name !== null);
  const names = [...new Set(launched)];
  const all = names.map((name) => {
    const found = kernels.get(name);
    if (found) return found;
    throw new GpuProblem(`The step launches ${name}, which this run does not have`, "WebGPU", "");
  });
  const launches = plan.steps.map(({ kernel, arguments: given }) => {
    const of = kernel === null ? null : kernels.get(kernel)!;
    if (of && given.length < of.arguments.length)
      throw new GpuProblem(`The step gives ${kernel} too few arguments`, "WebGPU", "");
    const each = given.slice(0, of?.arguments.length).map(({ buffer, from, size }, i): StepArgument => {
      const width = bytesOf(of?.arguments[i]!.dtype ?? plan.buffers[buffer]!.dtype);
      const written = of ? of.arguments[i]!.written : i === 0;
      return { buffer, offset: from * width, bytes: size * width, written };
    });
    return { shader: kernel === null ? null : names.indexOf(kernel), arguments: each };
  });
  const buffers = plan.buffers.map(
    ({ dtype, size }, number): ShaderArgument => ({
      ...{ number, dtype, size, name: `b${number}`, shape: [size], table: [1, size] as [number, number] },
      ...{ written: false, allowed: 0, span: spanOf(plan, kernels, number) },
    }),
  );
  const begins = plan.buffers.map((): ArrayBuffer | null => null);
  for (const one of values?.before ?? []) begins[one.number] = held(plan, one);
  const whole = !plan.varies && plan.buffers.every((of, i) => !isRead(of) || begins[i]);
  const ends = (whole ? (values?.after ?? []) : []).map((one) => ({
    ...{ buffer: one.number, bytes: held(plan, one) },
  }));
  const found = await tryStep(
    {
      made: all.map((one) => one.made),
      plain: all.map((one) => one.plain),
      ...{ buffers, begins, ends, launches, seconds: SECONDS },
    },
    progress,
    signal,
  );
  const compared = new Map(found.recorded.map((one) => [one.buffer, { ...one, equal: isEqual(one) }]));
  return {
    median: median([...found.us].sort((a, z) => a - z)),
    us: found.us,
    equal: found.outputs?.every(isEqual) ?? null,
    asRecorded: compared.size ? [...compared.values()].every((one) => one.equal) : null,
    launches: launches.length,
    memory: plan.buffers.map((of, i) => ({
      ...of,
      began: begins[i] ? "recorded" : isRead(of) ? "generated" : "",
      ended: compared.get(i) ?? null,
    })),
    kernels: names.map((name, i) => ({
      ...{ name, us: found.kernels[i]! },
      launches: launched.filter((one) => one === name).length,
    })),
  };
}

const isEqual = ({ error, magnitude }: Apart): boolean => error <= ALLOWED * magnitude;

/** Values of memory, whole words. */
function held(plan: Plan, { number, dtype, size, data }: StepMemory): ArrayBuffer {
  const of = plan.buffers[number];
  const bytes = size * bytesOf(dtype);
  const raw = textOf(data);
  if (of?.dtype !== dtype || of.size !== size || raw?.length !== bytes)
    throw new GpuProblem(
      "What this file has of the values of this step is damaged",
      "captured step",
      "Ask the author of the file to export it again.",
    );
  const memory = new ArrayBuffer(4 * Math.ceil(bytes / 4));
  const view = new Uint8Array(memory);
  for (let i = 0; i < bytes; i++) view[i] = raw.charCodeAt(i);
  return memory;
}

function textOf(base64: string): string | null {
  try {
    return atob(base64);
  } catch {
    return null;
  }
}

/** The bounds of a buffer that some kernel reads as indices; null where none does. */
function spanOf(
  plan: Plan,
  kernels: ReadonlyMap<string, Shaders>,
  buffer: number,
): [number, number] | null {
  for (const { kernel, arguments: given } of plan.steps)
    for (const [i, one] of given.entries()) {
      const span = kernel === null ? null : kernels.get(kernel)?.arguments[i]?.span;
      if (one.buffer === buffer && span) return span;
    }
  return null;
}
