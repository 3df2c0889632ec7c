/** A captured step of a program run on the GPU of this browser: its launches in order, on shared memory. */
import type { ShaderArgument, Shaders } from "../data/messages/trials/shaders";
import { tryStep } from "./gpu";
import { GpuProblem } from "./values/problem";
import type { StepArgument } from "./device/protocol";
import { bytesOf } from "./values/dtypes";
import type { Plan } from "./values/plan";
import { checkSize } from "./values/checked";
import { median } from "./values/turns";

/** Roundings of one launch become inputs of the next: what all of them together may be off, of the largest. */
const ALLOWED = 1e-2;
const SECONDS = 2;

export interface StepResult {
  /** Microseconds of the whole step: median, and each time. */
  median: number;
  us: number[];
  /** The largest difference of both sets of programs, relative to the largest magnitude of its buffer;
   * null: not compared. */
  error: number | null;
  equal: boolean | null;
  launches: number;
}

/** Runs the step with the compiler's programs, compares them with those without optimizations, and times it.
 * `kernels` by name. Rejects with a problem, and with an AbortError once given up. */
export async function stepHere(
  plan: Plan,
  kernels: ReadonlyMap<string, Shaders>,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<StepResult> {
  checkSize(plan.buffers);
  const names = [...new Set(plan.steps.map((step) => step.kernel))];
  const all = names.map((name) => {
    const found = kernels.get(name);
    if (found) return found;
    throw new GpuProblem(`The step launches ${name}, which this run does not have`, "WebGPU", "");
  });
  const launches = plan.steps.map(({ kernel, arguments: given }) => {
    const of = kernels.get(kernel)!;
    if (given.length < of.arguments.length)
      throw new GpuProblem(`The step gives ${kernel} too few arguments`, "WebGPU", "");
    const each = of.arguments.map((argument, i): StepArgument => {
      const { buffer, from, size } = given[i]!;
      const width = bytesOf(argument.dtype);
      return { buffer, offset: from * width, bytes: size * width, written: argument.written };
    });
    return { shader: names.indexOf(kernel), arguments: each };
  });
  const buffers = plan.buffers.map(
    ({ dtype, size }, number): ShaderArgument => ({
      ...{ number, dtype, size, name: `b${number}`, shape: [size], table: [1, size] as [number, number] },
      ...{ written: false, allowed: 0, span: spanOf(plan, kernels, number) },
    }),
  );
  const found = await tryStep(
    {
      made: all.map((one) => one.made),
      plain: all.map((one) => one.plain),
      ...{ buffers, launches, seconds: SECONDS },
    },
    progress,
    signal,
  );
  const error = found.outputs?.reduce((most, one) => Math.max(most, one.error / one.magnitude), 0);
  return {
    median: median([...found.us].sort((a, z) => a - z)),
    us: found.us,
    error: error ?? null,
    equal: error === undefined ? null : error <= ALLOWED,
    launches: launches.length,
  };
}

/** The bounds of a buffer that some kernel reads as indices; null where none does. */
function spanOf(
  plan: Plan,
  kernels: ReadonlyMap<string, Shaders>,
  buffer: number,
): [number, number] | null {
  for (const { kernel, arguments: given } of plan.steps)
    for (const [i, one] of given.entries()) {
      const span = kernels.get(kernel)?.arguments[i]?.span;
      if (one.buffer === buffer && span) return span;
    }
  return null;
}
