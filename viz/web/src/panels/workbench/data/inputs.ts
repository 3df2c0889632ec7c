/** On which inputs both are timed: kinds of numbers, or the values that the kernel read in the run. */
import { computed } from "@preact/signals";
import { kernel } from "../../../parts/kernel/kernel";
import { bytes, count } from "../../../state/format";
import { run } from "../../../state/state";
import { isHere } from "../../../parts/run/here";
import { GENERATED } from "../../../webgpu/bench";
import { goWorkbench, workbenchLink } from "./link";
import { benchDevice } from "./where";

/** The kind of the values of the run (viz/workbench/kinds.py). */
const CAPTURED = "captured";

export interface InputKind {
  kind: string;
  title: string;
  /** What there is to know of it, in a few words. */
  hint: string;
  /** Why it cannot be chosen, in one sentence; "" where it can. */
  why: string;
}

/** All kinds; those of the run are listed where the trace has none, too, with how to get them. */
export const inputKinds = computed<readonly InputKind[]>(() =>
  isHere(benchDevice.value?.device ?? "")
    ? [{ ...GENERATED, hint: "", why: "" }]
    : ofMachine.value,
);

const ofMachine = computed<readonly InputKind[]>(() =>
  (run.value?.inputs ?? []).map(({ kind, title }) => {
    if (kind !== CAPTURED) return { kind, title, hint: "", why: "" };
    const kept = kernel.value?.captured;
    const why = kept ? kept.why && `Not in the trace: ${kept.why}.` : howToCapture();
    const which = kept && kept.launch > 1 ? `launch ${count(kept.launch)}, ` : "";
    return { kind, title, hint: why || !kept ? "" : which + bytes(kept.bytes), why };
  }),
);

/** The kind that is chosen, else the first that there is; null before any is known. */
export const benchInputs = computed<InputKind | null>(() => {
  const there = inputKinds.value.filter((one) => !one.why);
  return there.find((one) => one.kind === workbenchLink.value.inputs) ?? there[0] ?? null;
});

export function chooseInputs(kind: string): void {
  if (inputKinds.peek().some((one) => one.kind === kind && !one.why)) goWorkbench({ inputs: kind });
}

/** How a trace comes to hold what this kernel reads. The name is a stranger's: only a plain one is
 * part of a command that may be pasted into a shell. */
function howToCapture(): string {
  const name = kernel.value?.name ?? "";
  const pattern = /^\w{1,200}$/.test(name) ? name : "'*'";
  return `To run on values of the program, record it again with VIZ=1 VIZ_CAPTURE=${pattern}`;
}
