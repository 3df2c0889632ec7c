/** The text of a captured step (`core/capture/capturereport.py`), which may be a stranger's, read back. Pure. */
import { bytesOf } from "./dtypes";

export interface PlanBuffer {
  dtype: string;
  size: number;
  /** "input 0", "kept", "changed in this step" or "made in this step". */
  role: string;
}

export interface PlanStep {
  /** Its name; null: the second argument is copied into the first one. */
  kernel: string | null;
  /** Which buffer each argument is, and the elements of it. */
  arguments: { buffer: number; from: number; size: number }[];
}

export interface Plan {
  buffers: PlanBuffer[];
  steps: PlanStep[];
  /** How often random numbers are drawn on the way. */
  draws: number;
  /** Whether launches have values of variables: kernels for browsers run with the largest ones. */
  varies: boolean;
}

const BUFFER = /^b(\d+) = (\w+)\[(\d+)\] .*?; (.+)$/;
const STEP = /^step \d+ = (?:(?:kernel (\w+)|copy)\((.*?)\)(  \w+=)?|.*)/;
const ARGUMENT = /^b(\d+)(?:\[(\d+):(\d+)\])?$/;
const MOST = 100_000;

/** The plan; null where the text is none. */
export function planOf(text: string): Plan | null {
  const plan: Plan = { buffers: [], steps: [], draws: 0, varies: false };
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
      plan.draws++;
      continue;
    }
    const given = step[2].split(", ").map((one) => {
      const [, number, from, to] = ARGUMENT.exec(one) ?? [];
      const of = number === undefined ? undefined : plan.buffers[Number(number)];
      if (!of) return null;
      const begin = Number(from ?? 0);
      return { buffer: Number(number), from: begin, size: Number(to ?? of.size) - begin };
    });
    if (given.some((one) => one === null)) return null;
    plan.varies ||= step[3] !== undefined;
    const kernel = step[1] ?? null;
    if (kernel === null && given.length !== 2) return null;
    plan.steps.push({ kernel, arguments: given as PlanStep["arguments"] });
  }
  return plan.buffers.length && plan.steps.length ? plan : null;
}

/** Whether the step reads what the memory held before it. */
export const isRead = ({ role }: PlanBuffer): boolean => role !== "made in this step";

/** Bytes of all its memory. */
export const bytesOfPlan = (plan: Plan): number =>
  plan.buffers.reduce((sum, { dtype, size }) => sum + size * bytesOf(dtype), 0);
