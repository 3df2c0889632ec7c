/** The text of a captured step (`core/capturereport.py`), which may be a stranger's, read back. Pure. */
import { bytesOf } from "./dtypes";

export interface PlanBuffer {
  dtype: string;
  size: number;
  /** "input 0", "kept" or "made in this step". */
  role: string;
}

export interface PlanStep {
  kernel: string;
  /** Which buffer each argument is, and the elements of it. */
  arguments: { buffer: number; from: number; size: number }[];
}

export interface Plan {
  buffers: PlanBuffer[];
  steps: PlanStep[];
  /** Steps that are no kernels: copies, and random numbers drawn. */
  left: number;
}

const BUFFER = /^b(\d+) = (\w+)\[(\d+)\] .*?; (.+)$/;
const STEP = /^step (\d+) = (?:kernel (\w+)\((.*?)\)|.*)/;
const ARGUMENT = /^b(\d+)(?:\[(\d+):(\d+)\])?$/;
const MOST = 100_000;

/** The plan; null where the text is none. */
export function planOf(text: string): Plan | null {
  const plan: Plan = { buffers: [], steps: [], left: 0 };
  for (const line of text.split("\n").slice(1, MOST)) {
    const buffer = BUFFER.exec(line);
    if (buffer) {
      const [, number, dtype, size, role] = buffer as unknown as string[];
      if (Number(number) !== plan.buffers.length) return null;
      plan.buffers.push({ dtype: dtype!, size: Number(size), role: role! });
      continue;
    }
    const step = STEP.exec(line);
    if (!step) continue;
    if (step[2] === undefined) {
      plan.left++;
      continue;
    }
    const given = (step[3] ?? "").split(", ").map((one) => {
      const [, number, from, to] = ARGUMENT.exec(one) ?? [];
      const of = number === undefined ? undefined : plan.buffers[Number(number)];
      if (!of) return null;
      const begin = Number(from ?? 0);
      return { buffer: Number(number), from: begin, size: Number(to ?? of.size) - begin };
    });
    if (given.some((one) => one === null)) return null;
    plan.steps.push({ kernel: step[2], arguments: given as PlanStep["arguments"] });
  }
  return plan.buffers.length && plan.steps.length ? plan : null;
}

/** Bytes of all its memory. */
export const bytesOfPlan = (plan: Plan): number =>
  plan.buffers.reduce((sum, { dtype, size }) => sum + size * bytesOf(dtype), 0);
