/** Runs the kernel as it is and as it is changed, side by side, and keeps what came of it. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../../data/backend";
import { follow } from "../../../data/jobs";
import type { ApiProblem } from "../../../data/messages/job";
import type { BenchHow, BenchInput, Workbench } from "../../../data/messages/trials/workbench";
import { kindOf } from "../../../parts/kernel/columns";
import { kernel } from "../../../parts/kernel/kernel";
import { outcomeOf } from "../../../parts/run/edits";
import { NOTHING, wordsOf } from "../../../parts/whatif/asked";
import { canTry, isRunning, keepVariant } from "../../../parts/whatif/store";
import { data } from "../../../state/actions";
import { runKey } from "../../../state/state";
import { benchBothHere, isHere } from "../../../parts/run/here";
import { benchInputs } from "./inputs";
import { benchDevice, choices, edited, whyNot } from "./where";
import { capital } from "../../../state/format";

/** A result, and what it is of. */
export interface Bench {
  how: BenchHow;
  result: Workbench;
  title: string;
  at: number;
}

type State =
  { kind: "idle" } | { kind: "running"; progress: string } | { kind: "error"; error: ApiProblem };

export const state = signal<State>({ kind: "idle" });
/** All results of this kernel, the newest first. */
export const benches = signal<readonly Bench[]>([]);
/** The one that is shown. */
export const bench = signal<Bench | null>(null);
const MOST = 20;
/** The kind of inputs of a kernel of which nothing was captured. */
const USUAL = "normal";
let job: AbortController | null = null;

/** How the changed side would be run now; null where nothing can be. */
export const how = computed<BenchHow | null>(() => {
  const device = benchDevice.value?.device;
  if (device === undefined || whyNot.value) return null;
  const own = edited.value;
  const source = own && { kind: kindOf(own.key), text: own.edit.text };
  const inputs = benchInputs.value?.kind ?? null;
  return { device, ...choices.value, source, inputs };
});

const nameOf = (of: BenchHow | null): string => JSON.stringify(of);
/** Whether something was changed since what is shown was run. */
export const isStale = computed(
  () => bench.value !== null && nameOf(bench.value.how) !== nameOf(how.value),
);

/** Whether what is changed now can be kept as a variant. */
export const canKeep = (): boolean => {
  const now = how.value;
  if (!now || !canTry() || isRunning()) return false;
  return now.source !== null || now.opts !== null || now.skip.length > 0;
};

/** The user's command to keep what is changed now as a variant. */
export function keepChange(): void {
  const [now, device, k] = [how.peek(), benchDevice.peek(), kernel.peek()];
  if (!now || !device || !k || !canKeep()) return;
  const { opts, skip, source } = now;
  void keepVariant(
    { ...NOTHING, opts, skip: [...skip], target: device.target === k.target ? "" : device.target },
    source && { ...source, device: device.device },
  );
}

export const canRunBoth = (): boolean =>
  kernel.value !== null && how.value !== null && state.value.kind !== "running";

/** A result belongs to one kernel and goes with it. */
export function startBench(): void {
  const about = computed(() => `${runKey.value} ${kernel.value?.context}`);
  effect(() => {
    void about.value;
    job?.abort();
    state.value = { kind: "idle" };
    benches.value = [];
    bench.value = null;
  });
}

/** What is changed, in few words, and the inputs where they are not the usual ones. */
function titleOf(of: BenchHow, inputs: BenchInput | undefined): string {
  const { opts, skip, source } = of;
  const what =
    !source && opts === null && !skip.length
      ? "original"
      : wordsOf({ ...NOTHING, opts, skip: [...skip] }, source?.kind);
  return inputs && inputs.kind !== USUAL ? `${what}; ${inputs.title.toLowerCase()}` : what;
}

/** Runs both on the device of this machine, or on the GPU of this browser. */
function benched(
  context: number,
  now: BenchHow,
  signal: AbortSignal,
  progress: (said: string) => void,
): Promise<Workbench> {
  const { server } = data();
  if (isHere(now.device) || !server) return benchBothHere(context, now, progress, signal);
  return follow<Workbench>(server, () => server.bench(context, now), progress, signal);
}

/** The user's command to run both. */
export async function runBoth(): Promise<void> {
  const k = kernel.peek();
  const now = how.peek();
  if (!k || !now || state.peek().kind === "running") return;
  const mine = (job = new AbortController());
  const own = edited.peek();
  const noted = own && now.source ? outcomeOf(own.key, own.edit) : () => undefined;
  state.value = { kind: "running", progress: `Starting on ${now.device}` };
  try {
    const result = await benched(k.context, now, mine.signal, (said) => {
      if (!mine.signal.aborted && said && said !== "starting")
        state.value = { kind: "running", progress: capital(said) };
    });
    if (mine.signal.aborted) return;
    noted(null);
    const made = { how: now, result, title: titleOf(now, result.inputs[0]), at: Date.now() };
    const others = benches.peek().filter((one) => nameOf(one.how) !== nameOf(now));
    benches.value = [made, ...others].slice(0, MOST);
    bench.value = made;
    state.value = { kind: "idle" };
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    const error = asProblem(thrown, k.name);
    noted(error);
    state.value = { kind: "error", error };
  }
}

export function cancelBench(): boolean {
  if (state.peek().kind !== "running") return false;
  job?.abort();
  state.value = { kind: "idle" };
  return true;
}
