/** Captured steps of the program: each as a whole on the GPU of this browser. */
import { cancelStep, capturedSteps, runStepHere, steps } from "../../../parts/run/steps";
import { asksConsent } from "../../../parts/run/here";
import { Consent } from "../../../parts/run/Consent";
import { micros, plural, short } from "../../../state/format";
import { run } from "../../../state/state";
import type { StepResult } from "../../../webgpu/stepHere";
import { StepResults } from "./StepResults";

/** Steps that are listed. */
const MOST = 20;

export function CapturedSteps() {
  const all = capturedSteps.value;
  if (!all.length) return null;
  return (
    <ul class="steps-here" aria-label="Captured steps">
      {all.slice(0, MOST).map(({ context, name }) => (
        <li key={context}>
          <div class="row">
            <span class="el sp" title={short(name, 300)}>
              Captured step: {short(name, 60)}
              {run.value?.stepValues?.includes(context) && (
                <span class="t3"> · with values of the run</span>
              )}
            </span>
            <Outcome context={context} />
          </div>
          <Results context={context} />
        </li>
      ))}
      {all.length > MOST && <li class="t3">{all.length - MOST} more are not listed.</li>}
    </ul>
  );
}

function Outcome({ context }: { context: number }) {
  const state = steps.value.get(context);
  if (state?.kind === "running" && asksConsent.value) return <Consent />;
  if (state?.kind === "running")
    return (
      <>
        <span class="t2 el" role="status">
          {state.said || "starting"}
        </span>
        <button type="button" class="link" onClick={() => cancelStep()}>
          Cancel
        </button>
      </>
    );
  return (
    <>
      {state?.kind === "error" && (
        <span class="cdel el" title={state.error.hint}>
          {short(state.error.what, 120)}
          {state.error.where.startsWith("line ") && ` (${state.error.where})`}
        </span>
      )}
      {state?.kind === "done" && (
        <span class="num el">
          <b>{micros(state.result.median)}</b> for {plural(state.result.launches, "launch", "launches")}
          {state.draws > 0 && `, ${plural(state.draws, "random draw")} left out`}
          {" · "}
          <Verdict of={state.result} />
        </span>
      )}
      <button
        type="button"
        class="link nw"
        title="All launches in order, on memory that they share: it begins with the values of the run where the trace has them, else with generated ones"
        onClick={() => void runStepHere(context)}
      >
        {state?.kind === "done" ? "Run it again" : "Run it here"}
      </button>
    </>
  );
}

function Results({ context }: { context: number }) {
  const state = steps.value.get(context);
  return state?.kind === "done" ? <StepResults of={state} /> : null;
}

/** Against the run, where its values are known, and against the kernels without optimizations. */
function Verdict({ of: { equal, asRecorded } }: { of: StepResult }) {
  if (equal === null && asRecorded === null) return <span class="t2">not compared: too large</span>;
  if (asRecorded === false) return <span class="cdel">≠ differs from the run</span>;
  if (equal === false)
    return <span class="cdel">≠ differs from the kernels without optimizations</span>;
  return (
    <span class="cadd">{asRecorded ? "✓ as in the run" : "✓ as without optimizations"}</span>
  );
}
