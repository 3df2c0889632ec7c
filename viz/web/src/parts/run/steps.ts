/** Captured steps of the program, run as a whole on the GPU of this browser. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, DataError, isAbort } from "../../data/backend";
import type { ApiProblem } from "../../data/messages/job";
import type { Shaders } from "../../data/messages/trials/shaders";
import { data } from "../../state/actions";
import { rows, runKey } from "../../state/state";
import { planOf } from "../../webgpu/values/plan";
import { type StepResult, stepHere } from "../../webgpu/stepHere";
import { COMPILERS } from "../kernel/versions";
import { askGpuName, consent, kernelHere } from "./here";

/** The kind of the text of a captured step (core/capturereport.py). */
const CAPTURED = "captured";
const NAME = /^captured /;

/** What was captured: contexts, and what they are called. */
export const capturedSteps = computed(() =>
  rows.value
    .filter((row) => row.kind === "context" && row.label === "schedule" && NAME.test(row.name))
    .map(({ id, name }) => ({ context: id, name: name.replace(NAME, "") })),
);

type State =
  | { kind: "running"; said: string }
  | { kind: "done"; result: StepResult; left: number }
  | { kind: "error"; error: ApiProblem };

/** By context, what came of it. */
export const steps = signal<ReadonlyMap<number, State>>(new Map());
let job: AbortController | null = null;

const put = (context: number, state: State | null): void => {
  const next = new Map(steps.peek());
  if (state) next.set(context, state);
  else next.delete(context);
  steps.value = next;
};

/** Runs a captured step here. */
export async function runStepHere(context: number): Promise<void> {
  job?.abort();
  const mine = (job = new AbortController());
  const say = (said: string): void => {
    if (!mine.signal.aborted) put(context, { kind: "running", said });
  };
  say("");
  try {
    await consent(mine.signal);
    askGpuName();
    const text = (await data().schedule(context)).artifacts.find((a) => a.kind === CAPTURED)?.text;
    const plan = planOf(text ?? "");
    if (!plan)
      throw new DataError(
        "The text of this step cannot be read",
        "captured step",
        "It may be of another version, or damaged.",
      );
    const kernels = new Map<string, Shaders>();
    const names = [...new Set(plan.steps.map((step) => step.kernel))];
    for (const [i, name] of names.entries()) {
      say(`compiling ${i + 1} of ${names.length}`);
      const row = rows.peek().find((r) => r.label === "kernel" && r.name === name && !r.target);
      if (row) kernels.set(name, await kernelHere(row.id, COMPILERS, say, mine.signal));
    }
    const result = await stepHere(plan, kernels, say, mine.signal);
    if (!mine.signal.aborted) put(context, { kind: "done", result, left: plan.left });
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) put(context, null);
    else put(context, { kind: "error", error: asProblem(thrown, "captured step") });
  }
}

export function cancelStep(): boolean {
  if (![...steps.peek().values()].some((one) => one.kind === "running")) return false;
  job?.abort();
  return true;
}

/** What came of it is of one run. */
export function startSteps(): void {
  effect(() => {
    void runKey.value;
    job?.abort();
    steps.value = new Map();
  });
}
