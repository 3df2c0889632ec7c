/** Captured steps of the program, run as a whole on the GPU of this browser. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, DataError, isAbort } from "../../data/backend";
import type { ApiProblem } from "../../data/messages/job";
import type { Shaders } from "../../data/messages/trials/shaders";
import type { StepValues } from "../../data/messages/trials/stepvalues";
import { data } from "../../state/actions";
import { rows, run, runKey } from "../../state/state";
import { planOf } from "../../webgpu/values/plan";
import { type StepResult, stepHere } from "../../webgpu/stepHere";
import { COMPILERS } from "../kernel/versions";
import { browserEdit } from "./edits";
import { askGpuName, consent, kernelHere } from "./here";

/** The kind of the text of a captured step (core/capture/capturereport.py). */
const CAPTURED = "captured";
const NAME = /^captured /;

/** What was captured: contexts, and what they are called. */
export const capturedSteps = computed(() =>
  rows.value
    .filter((row) => row.kind === "context" && row.label === "schedule" && NAME.test(row.name))
    .map(({ id, name }) => ({ context: id, name: name.replace(NAME, "") })),
);

/** What came of a step, and how it was run. */
export interface StepOutcome {
  result: StepResult;
  /** Random draws on the way whose numbers are not those of the run. */
  draws: number;
  /** Kernels that ran with the reader's text. */
  edited: string[];
  /** Why some values are generated in place of those of the run; "" where none is, or none were captured. */
  why: string;
  /** Whether its kernels have variables, which are the largest ones here. */
  varies: boolean;
  /** By name, the contexts of its kernels. */
  contexts: ReadonlyMap<string, number>;
}

type State =
  | { kind: "running"; said: string }
  | ({ kind: "done" } & StepOutcome)
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
    const contexts = new Map<string, number>();
    const edited: string[] = [];
    const names = [...new Set(plan.steps.map((step) => step.kernel))].filter((name) => name !== null);
    for (const [i, name] of names.entries()) {
      say(`compiling ${i + 1} of ${names.length}`);
      const row = rows.peek().find((r) => r.label === "kernel" && r.name === name && !r.target);
      if (!row) continue;
      const edit = browserEdit(row.id);
      const found = await kernelHere(row.id, edit ?? COMPILERS, say, mine.signal);
      contexts.set(name, row.id);
      kernels.set(name, edit ? { ...found, made: { ...found.made, text: edit.text } } : found);
      if (edit) edited.push(name);
    }
    say("reading the values");
    const { values, why } = await valuesOf(context, mine.signal);
    const result = await stepHere(plan, kernels, values, say, mine.signal);
    const isWhole = result.memory.every(({ began }) => began !== "generated");
    if (!mine.signal.aborted)
      put(context, {
        ...{ kind: "done", result, edited, contexts },
        ...{ draws: values && isWhole ? 0 : plan.draws, why: isWhole ? "" : why },
        varies: plan.varies,
      });
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) put(context, null);
    else put(context, { kind: "error", error: asProblem(thrown, "captured step") });
  }
}

/** What the trace holds of the step's memory. A file may have had no room for it. */
async function valuesOf(
  context: number,
  signal: AbortSignal,
): Promise<{ values: StepValues | null; why: string }> {
  if (!run.peek()?.stepValues?.includes(context)) return { values: null, why: "" };
  try {
    const values = await data().stepValues(context, signal);
    return { values, why: values.why };
  } catch (thrown) {
    if (isAbort(thrown)) throw thrown;
    return { values: null, why: asProblem(thrown, "captured step").what };
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
