/** Which step broke it: how far the search is, then what made the result of the kernel wrong. */
import { closeSearch, openFound, search } from "../../../parts/check/bisect";
import type { Bisection, Outcome, WrongStep } from "../../../data/messages/trials/bisection";
import { short } from "../../../state/format";
import { step, view } from "../../../state/state";
import { Clipped, Place } from "../../../ui/Text";
import { Icon } from "../../../ui/Icon";

export function BisectSection() {
  const now = search.value;
  if (!now) return null;
  return (
    <section class="sec bisect" role="region" aria-label="Which step broke it" aria-live="polite">
      <h3>
        Which step broke {now.name}
        <span class="sp" />
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label={now.state === "running" ? "Cancel the search" : "Close the answer"}
          title={now.state === "running" ? "Cancel (Esc)" : "Close"}
          onClick={() => void closeSearch()}
        >
          <Icon name="close" />
        </button>
      </h3>
      {now.state === "running" && (
        <p class="t2">Compiling it again and running its states: {short(now.progress, 80)}</p>
      )}
      {now.state === "error" && (
        <p class="cdel" role="alert">
          {now.error.what}. {now.error.hint && `${now.error.hint}.`}
        </p>
      )}
      {now.state === "done" && <Answer found={now.answer} />}
    </section>
  );
}

function Answer({ found }: { found: Bisection }) {
  const { failed } = found;
  const culprit = found.culprit ?? failed?.step ?? null;
  return (
    <>
      {found.changed.length > 0 && (
        <p class="t2 small">
          The code on disk is compiled; since the run{" "}
          {short(found.changed.map((one) => one.said || one.name).join("; "), 300)}.
        </p>
      )}
      {failed && (
        <p>
          Pass <b>{short(failed.pass, 80)}</b> fails: {short(failed.error.what, 400)}.
        </p>
      )}
      {culprit ? (
        <Culprit found={found} culprit={culprit} />
      ) : (
        !failed && <p>{nothing(found)}</p>
      )}
      {found.notes.map((note, i) => (
        <p key={i} class="t2 small">
          {short(note, 300)}.
        </p>
      ))}
    </>
  );
}

/** Where no step is to blame. */
function nothing({ outcome, device }: Bisection): string {
  if (!outcome) return "Unknown: the compiled kernel cannot be run.";
  const where = device ? ` on ${device}` : "";
  return outcome.equal
    ? `Nothing is wrong: the kernel${where}, compiled with the code on disk, agrees with the reference.`
    : `The result${where} differs, and no step is to blame.`;
}

function Culprit({ found, culprit }: { found: Bisection; culprit: WrongStep }) {
  const { match } = culprit;
  const at = found.inTrace;
  const isShown = at !== null && view.value.rewrite === at.rewrite && step.value === at.step;
  return (
    <>
      {match ? (
        <>
          <p class="row wrap g4">
            {found.culprit ? "Made wrong by" : "Broken by"} <b class="mono">{short(match.rule.name, 80)}</b>
            <Place file={match.rule.file} line={match.rule.line} />
          </p>
          <p class="t2">
            Step {match.step} of pass {short(culprit.pass, 80)}
            {at === null && ", which the trace does not have"}
            {isShown && ", shown here"}.
            {at !== null && !isShown && (
              <>
                {" "}
                <button type="button" class="link" onClick={() => openFound(found)}>
                  Show the step
                </button>
              </>
            )}
          </p>
        </>
      ) : (
        <p>
          Made wrong by <b>{short(culprit.pass, 80)}</b>
          {culprit.candidates.length > 0
            ? `, by one of ${short(culprit.candidates.join(", "), 300)}.`
            : ", outside of any rule."}
        </p>
      )}
      {found.culprit && (
        <dl class="kv top8">
          <Result name="Before it" outcome={culprit.before} />
          <Result name="After it" outcome={culprit.after} />
        </dl>
      )}
      {match && at === null && (
        <div class="why-diff top8">
          <Graph name="Before" lines={match.before} />
          <Graph name="After" lines={match.after} />
        </div>
      )}
      {culprit.leftOut && (
        <p class="t3 small">Found by leaving rules out: the states there cannot be run.</p>
      )}
    </>
  );
}

function Result({ name, outcome }: { name: string; outcome: Outcome | null }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={outcome === null || outcome.equal ? undefined : "cdel"}>
        <Clipped text={outcome?.said || "not known"} limit={300} />
      </dd>
    </>
  );
}

function Graph({ name, lines }: { name: string; lines: readonly string[] }) {
  return (
    <div>
      <span class="small t2">{name}</span>
      <pre class="mono small">
        <Clipped text={lines.join("\n")} limit={1500} />
      </pre>
    </div>
  );
}
