/** Captured steps of the program: each as a whole on the GPU of this browser. */
import { cancelStep, capturedSteps, runStepHere, steps } from "../../../parts/run/steps";
import { asksConsent } from "../../../parts/run/here";
import { Consent } from "../../../parts/run/Consent";
import { micros, plural, short } from "../../../state/format";

/** Steps that are listed. */
const MOST = 20;

export function CapturedSteps() {
  const all = capturedSteps.value;
  if (!all.length) return null;
  return (
    <ul class="steps-here" aria-label="Captured steps">
      {all.slice(0, MOST).map(({ context, name }) => (
        <li key={context} class="row">
          <span class="el sp" title={short(name, 300)}>
            Captured step: {short(name, 60)}
          </span>
          <Outcome context={context} />
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
        </span>
      )}
      {state?.kind === "done" && (
        <span class="num el">
          <b>{micros(state.result.median)}</b> for {plural(state.result.launches, "launch", "launches")}
          {state.left > 0 && `, ${plural(state.left, "copy or draw", "copies or draws")} left out`}
          {" · "}
          <span class={state.result.equal === false ? "cdel" : "cadd"}>
            {state.result.equal === null
              ? "not compared: too large"
              : state.result.equal
                ? "✓ as without optimizations"
                : "≠ differs from the kernels without optimizations"}
          </span>
        </span>
      )}
      <button
        type="button"
        class="link nw"
        title="All launches in order, on memory that they share and that begins with generated values"
        onClick={() => void runStepHere(context)}
      >
        {state?.kind === "done" ? "Run it again" : "Run it here"}
      </button>
    </>
  );
}
