/** A kernel run on the GPU of this browser, and judged: against the reference, as far as it is known here,
 * and against the kernel without any optimisation. */
import { BROWSER } from "../data/browser";
import type { Launch, RunResult } from "../data/messages/kernel";
import type { Shader, Shaders } from "../data/messages/trials/shaders";
import { generated } from "./values/generated";
import { adapter, tryShaders } from "./device/gpu";
import { judge, writtenBy } from "./judge";
import { GpuProblem } from "./values/problem";


/** Runs a kernel that was made as `how` says, or an edited text in place of it; its times take about `seconds`.
 * Rejects with a problem, and with an AbortError once given up. */
export async function runHere(
  kernel: Shaders,
  how: Launch,
  progress: (text: string) => void,
  signal: AbortSignal,
  seconds: number,
): Promise<RunResult> {
  const { name } = await adapter();
  const shader: Shader = how.source
    ? { ...kernel.made, text: how.source.text }
    : kernel.made;
  progress("making inputs");
  const written = writtenBy(kernel);
  if (!written.length) throw new GpuProblem("This kernel stores nothing", kernel.name, "");
  const tried = await tryShaders(
    {
      sides: [shader, kernel.plain],
      timed: [0],
      memory: kernel.arguments.map(generated),
      written,
      seconds,
    },
    progress,
    signal,
  );
  const [got, plain] = tried.outputs as [ArrayBuffer[], ArrayBuffer[]];
  const found = judge(kernel, got, plain);
  const us = tried.us[0]!;
  const ordered = [...us].sort((a, z) => a - z);
  const at = (part: number): number =>
    ordered[Math.min(ordered.length - 1, Math.floor(part * ordered.length))] ?? 0;
  const overrun = tried.overrun.filter(([side]) => side === 0).map(([, argument]) => argument);
  return {
    device: `${BROWSER}: ${name}`,
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
