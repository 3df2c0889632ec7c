/** A kernel run on a GPU, in the worker that has it, and judged: against the reference, as far as it is known here,
 * and against the kernel without any optimisation. */
import { BROWSER } from "../data/browser";
import type { Launch, RunResult } from "../data/messages/kernel";
import type { Shader, Shaders } from "../data/messages/trials/shaders";
import type { Session } from "./device/session";
import { judge, writtenBy } from "./judge";
import { GpuProblem } from "./values/problem";

/** Runs a kernel that was made as `how` says, or an edited text in place of it; its times take about `seconds`.
 * Raises a GpuProblem. */
export async function runKernel(
  session: Session,
  kernel: Shaders,
  how: Launch,
  seconds: number,
  progress: (text: string) => void,
): Promise<RunResult> {
  const shader: Shader = how.source
    ? { ...kernel.made, text: how.source.text }
    : kernel.made;
  const written = writtenBy(kernel);
  if (!written.length) throw new GpuProblem("This kernel stores nothing", kernel.name, "");
  const tried = await session.run(
    {
      sides: [shader, kernel.plain],
      timed: [0],
      arguments: kernel.arguments,
      written,
      seconds,
    },
    progress,
  );
  const [got, plain] = tried.outputs as [ArrayBuffer[], ArrayBuffer[]];
  progress("comparing");
  const found = judge(kernel, got, plain);
  const us = tried.us[0]!;
  const ordered = [...us].sort((a, z) => a - z);
  const at = (part: number): number =>
    ordered[Math.min(ordered.length - 1, Math.floor(part * ordered.length))] ?? 0;
  const overrun = tried.overrun.filter(([side]) => side === 0).map(([, argument]) => argument);
  return {
    device: `${BROWSER}: ${session.adapter.name}`,
    opts: how.opts,
    source: how.source?.kind ?? null,
    us,
    median: at(0.5),
    p90: at(0.9),
    equal: found.equal && !overrun.length,
    maxError: found.worst.error,
    reference: found.reference,
    tolerance: found.worst.allowed,
    detail: [
      overrun.length
        ? `It writes behind the end of argument ${overrun.join(" and ")}.`
        : "Nothing was written behind the end of an output.",
      found.detail,
      `Timed by ${tried.timing}.`,
      "Generated inputs: the same numbers on every machine.",
    ]
      .filter(Boolean)
      .join(" "),
    takes: {},
    instructions: null,
  };
}
