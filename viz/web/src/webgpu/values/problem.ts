/** What went wrong on the GPU, in the one shape of all errors. */
import type { ApiProblem } from "../../data/messages/job";

export class GpuProblem extends Error implements ApiProblem {
  constructor(
    readonly what: string,
    readonly where: string,
    readonly hint: string,
  ) {
    super(what);
    this.name = "GpuProblem";
  }
}

/** Any thrown value as a problem. */
export function problemOf(thrown: unknown): ApiProblem {
  if (thrown instanceof GpuProblem) {
    const { what, where, hint } = thrown;
    return { what, where, hint };
  }
  const what = thrown instanceof Error ? thrown.message : String(thrown);
  return { what, where: "WebGPU", hint: "" };
}
