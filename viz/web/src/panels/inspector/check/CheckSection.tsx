/** Is this step right: what is known of the step that is shown, and buttons that check. */
import {
  betterHint,
  cancelCheck,
  canCheck,
  canCheckPass,
  checkError,
  checking,
  checkKernel,
  checkPass,
  checkRun,
  known,
  nextDiffering,
  someDiffer,
  verdicts,
  whyNoPassCheck,
} from "../../../parts/check/checks";
import { countsWords, KIND_WORDS, signOf, SIGNS } from "../../../parts/check/marks";
import type { Verdict } from "../../../data/messages/trials/verdicts";
import { plural, short, tiny } from "../../../state/format";
import { currentKernel, currentRow, step } from "../../../state/state";
import { Clipped } from "../../../ui/Text";

export function CheckSection() {
  const row = currentRow.value;
  const found = verdicts.value.get(step.value);
  const pass = row ? known.value.get(row.id) : undefined;
  const { mark, tint } = SIGNS[found ? signOf(found.kind) : "unchecked"];
  return (
    <section class="sec check" role="region" aria-label="Is this step right">
      <h3>
        Is this step right
        <span class="sp" />
        {found && (
          <span class={`badge ${tint}`}>
            {mark} {KIND_WORDS[found.kind]}
          </span>
        )}
      </h3>
      {found ? <Answer verdict={found} /> : <p class="t2">{unknown(pass !== undefined)}</p>}
      {pass && (
        <p class="t2 small num top8">
          This pass: {countsWords(pass.counts) || "no steps"}
          {!pass.whole && "; not all steps were checked"}
        </p>
      )}
      <Actions isWhole={pass?.whole === true} />
    </section>
  );
}

const unknown = (isKnown: boolean): string =>
  isKnown ? "This step was not checked." : "This pass was not checked.";

function Answer({ verdict: v }: { verdict: Verdict }) {
  const said = short(v.how, 400);
  return (
    <>
      <p class="check-said">
        {SAID[v.kind]}
        {said && said !== FOR_THESE && `: ${said}`}
        {v.ulps !== undefined && v.ulps > 0 && `, at most ${tiny(v.ulps)} ulp`}
        {v.kind === "sampled" && v.samples ? ` (${plural(v.samples, "sample")})` : ""}.
      </p>
      {v.kind === "differs" && <Values verdict={v} />}
      {v.hint && <p class="t2 small">{short(v.hint, 300)}</p>}
    </>
  );
}

/** What the table below says anyhow. */
const FOR_THESE = "for these values";
const SAID: Record<Verdict["kind"], string> = {
  proved: "Both mean the same for every value",
  sampled: "Both give the same on every sample",
  assumes: "Right only under what the rule assumes",
  differs: "Before and after the step differ",
  unchecked: "It cannot be checked",
};

/** The values for which a step is wrong, and both results. */
function Values({ verdict: v }: { verdict: Verdict }) {
  return (
    <table class="compared check-values" aria-label="Values for which the step is wrong">
      <thead>
        <tr>
          <th>Value of</th>
          <th class="r">is</th>
        </tr>
      </thead>
      <tbody>
        {(v.values ?? []).map(([name, value], i) => (
          <tr key={i}>
            <td class="mono">
              <Clipped text={name} limit={60} />
            </td>
            <td class="mono r">
              <Clipped text={value} limit={60} />
            </td>
          </tr>
        ))}
        <tr class="b">
          <td>result before the step</td>
          <td class="mono r cadd">
            <Clipped text={v.before ?? ""} limit={60} />
          </td>
        </tr>
        <tr class="b">
          <td>result after the step</td>
          <td class="mono r cdel">
            <Clipped text={v.after ?? ""} limit={60} />
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** Buttons; while a check goes on, how far it is in their place. */
function Actions({ isWhole }: { isWhole: boolean }) {
  const why = whyNoPassCheck();
  const now = checking.value;
  const error = checkError.value;
  if (now)
    return (
      <div class="row g8 check-do" aria-live="polite">
        <span class="t2 el" title={`Checking ${now.what}: ${short(now.progress, 300)}`}>
          Checking {now.what}: {short(now.progress, 80)}
        </span>
        <span class="sp" />
        <button
          type="button"
          class="btn sm"
          title="What was checked until then stays known (Esc)"
          onClick={() => void cancelCheck()}
        >
          Cancel
        </button>
      </div>
    );
  return (
    <>
      {error && (
        <p class="cdel small" role="alert">
          {error.what}. {error.hint && `${error.hint}.`}
        </p>
      )}
      {why !== null ? (
        <p class="t3 small check-do">{why}</p>
      ) : (
        <div class="row wrap g4 check-do">
          <button
            type="button"
            class="btn sm"
            title="Check this pass (C)"
            disabled={!canCheckPass()}
            onClick={checkPass}
          >
            {isWhole ? "Check again" : "Check this pass"}
          </button>
          {currentKernel.value && (
            <button
              type="button"
              class="btn sm"
              title="Check all passes of this kernel"
              disabled={!canCheck()}
              onClick={checkKernel}
            >
              This kernel
            </button>
          )}
          <button
            type="button"
            class="btn sm"
            title="Check all passes of the run"
            disabled={!canCheck()}
            onClick={checkRun}
          >
            The run
          </button>
        </div>
      )}
      {someDiffer.value && (
        <div class="row g12 top8">
          <button type="button" class="link" title="D" onClick={() => nextDiffering(1)}>
            Next step that differs
          </button>
          <button type="button" class="link" title="Shift D" onClick={() => nextDiffering(-1)}>
            Previous one
          </button>
        </div>
      )}
      {betterHint.value && why === null && (
        <p class="t3 small top8">For more proofs: {short(betterHint.value, 200)}.</p>
      )}
    </>
  );
}
