/** Run: starts only by its button, shows progress, then time as a distribution and equality. */
import { effect, signal, untracked } from "@preact/signals";
import { data } from "../../state/actions";
import { micros, plural } from "../../state/format";
import { asProblem, isAbort } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import type { Launch, RunResult } from "../../data/messages/kernel";
import { BrokenBy } from "../check/BrokenBy";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/over/Menu";
import { quantile } from "./histogram";
import { kernel, progress } from "../kernel/kernel";
import { Compared, Outcome } from "./Outcome";
import { asksConsent, isHere, launchHere } from "./here";
import { Consent } from "./Consent";
import { runDevice, RunHow, runOpts, whyNoDevice } from "./RunHow";
import { COMPILERS } from "../kernel/versions";
import { withRun } from "./runs";

const LAUNCHES = 100;

type State =
  | { kind: "idle" }
  | { kind: "running"; progress: string }
  | { kind: "done"; result: RunResult }
  | { kind: "error"; error: ApiProblem };

const state = signal<State>({ kind: "idle" });
/** The runs of this kernel, the first one first. */
export const runs = signal<readonly RunResult[]>([]);
let job: AbortController | null = null;

/** A result belongs to one kernel and goes with it. */
export function startRunBox(): void {
  effect(() => {
    void kernel.value?.context;
    job?.abort();
    state.value = { kind: "idle" };
    runs.value = [];
    if (runOpts.peek()?.trim()) runOpts.value = null; // they name the loops of that kernel
  });
}

export function canRun(): boolean {
  return kernel.value !== null && runDevice() !== null && progress.value === "finished";
}

/** Whether something can be run now. */
export const canLaunch = (): boolean => canRun() && state.value.kind !== "running";

/** The user's command to run the kernel on the chosen device. */
export function runKernel(): void {
  const device = untracked(runDevice);
  if (device === null) return;
  void launch({ device, opts: runOpts.peek(), skip: [], source: null });
}

/**
 * Runs the kernel, and shows the result or why it did not run, which it gives back, too. An edited text is compared with the compiler's own, which runs after it if it has not yet.
 */
export async function launch(how: Launch): Promise<ApiProblem | null> {
  const { server } = data();
  const k = kernel.peek();
  if (!k || state.peek().kind === "running") return null;
  const mine = (job = new AbortController());
  const say = (progress: string): void => {
    if (!mine.signal.aborted) state.value = { kind: "running", progress };
  };
  const once = (way: Launch): Promise<RunResult> => {
    say(`Starting on ${way.device}`);
    if (isHere(way.device) || !server) return launchHere(k.context, way, say, mine.signal);
    const start = (): Promise<number> => server.launch(k.context, LAUNCHES, way);
    return follow<RunResult>(server, start, say, mine.signal);
  };
  try {
    const made = [await once(how)];
    if (how.source && !runs.peek().length)
      made.unshift(await once({ device: how.device, ...COMPILERS, source: null }));
    if (mine.signal.aborted) return null;
    runs.value = made.reduce(withRun, runs.peek());
    state.value = { kind: "done", result: made.at(-1)! };
    return null;
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return null;
    // A result of before is not one of this text: it stays in the table of runs only.
    const error = asProblem(thrown, k.name);
    state.value = { kind: "error", error };
    return error;
  }
}

export function cancelRun(): boolean {
  if (state.peek().kind !== "running") return false;
  job?.abort();
  state.value = { kind: "idle" };
  return true;
}

/** What came of it, and Run with the device as one button. `brief`: without what came of it. */
export function RunBox({ brief = false }: { brief?: boolean }) {
  const k = kernel.value;
  if (!k || progress.value !== "finished") return null;
  const s = state.value;
  const device = runDevice();
  if (device === null) return <span class="t3 nw">{whyNoDevice()}</span>;
  if (s.kind === "running" && asksConsent.value) return <Consent />;
  return (
    <div class="runbox">
      {s.kind === "idle" && !brief && <Recorded us={k.launches.us} launches={k.launches.count} />}
      {s.kind === "running" && <span class="t2 el">{s.progress || "Running"}</span>}
      {s.kind === "done" && !brief && <Outcome r={s.result} runs={runs.value} />}
      {s.kind === "done" && s.result.equal === false && s.result.source === null && (
        <BrokenBy how={s.result} kernel={k.context} />
      )}
      {s.kind === "error" && <Failed error={s.error} runs={runs.value} />}
      {s.kind === "running" ? (
        <button type="button" class="btn" onClick={cancelRun}>
          Cancel
        </button>
      ) : (
        <span class="split">
          <button
            type="button"
            class="btn pri"
            title={isHere(device) ? "Run on the GPU of this browser (R)" : `Run ${LAUNCHES} times on ${device} (R)`}
            onClick={runKernel}
          >
            <Icon name="play" fill />
            Run
          </button>
          <RunHow />
        </span>
      )}
    </div>
  );
}

function Recorded({ us, launches }: { us: number[]; launches: number }) {
  if (!launches) return null;
  const median = quantile(
    [...us].sort((a, z) => a - z),
    0.5,
  );
  return (
    <span class="t2 num nw xwide">
      {plural(launches, "launch", "launches")} in the run
      {us.length > 0 && `, median ${micros(median)}`}
    </span>
  );
}

export function Failed({ error, runs = [] }: { error: ApiProblem; runs?: readonly RunResult[] }) {
  return (
    <Menu
      label="Why the run failed"
      class="btn sm quiet cdel"
      button={
        <span class="el" title={error.what}>
          ! {error.what}
        </span>
      }
    >
      {() => (
        <div class="pop">
          <b>{error.what}</b>
          <span class="mono">{error.where}</span>
          <span>{error.hint}</span>
          {runs.length > 0 && (
            <>
              <span class="t2">Earlier runs:</span>
              <Compared runs={runs} now={null} />
            </>
          )}
        </div>
      )}
    </Menu>
  );
}
