/** The step that is shown: what is known of it, in words; of a trace of another compiler why nothing is. */
import { checkOpen, verdicts, whyNeverChecked } from "../../parts/check/checks";
import { signOf, SIGNS, verdictWords } from "../../parts/check/marks";
import type { Verdict } from "../../data/messages/trials/verdicts";
import { plural, short, tiny } from "../../state/format";
import { step } from "../../state/state";
import { Clipped } from "../../ui/code/Text";

/** Behind the name of the rule: opens the control. */
export function VerdictBadge() {
  const found = verdicts.value.get(step.value);
  if (!found) return null;
  const { mark, tint } = SIGNS[signOf(found.kind)];
  return (
    <button
      type="button"
      class={`badge ${tint}`}
      title="Is it right? (C)"
      onClick={() => (checkOpen.value = true)}
    >
      {mark} {verdictWords(found)}
    </button>
  );
}

export function VerdictSection() {
  const found = verdicts.value.get(step.value);
  const never = whyNeverChecked();
  if (!found && never === null) return null;
  return (
    <section class="sec check" role="region" aria-label="Verdict">
      {never !== null && <p class="t3 small">Not checked: {never}</p>}
      {found && <Answer verdict={found} />}
    </section>
  );
}

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
