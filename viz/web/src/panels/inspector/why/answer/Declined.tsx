/** Where the function declined: called again, the line on which it returned and what that line saw. */
import { capital, count, short } from "../../../../state/format";
import { rules } from "../../../../state/state";
import type { DecliningLine, WhyNot } from "../../../../data/messages/rule";
import { CodeLines } from "../../../../ui/code/CodeLines";
import { ruleToday } from "../../../../ui/code/since";
import { Clipped, Place } from "../../../../ui/code/Text";
import { call, callAgain, cancelCall } from "../data/called";

export function Declined({ answer }: { answer: WhyNot }) {
  const now = call.value;
  return (
    <div class="sec" aria-live="polite">
      <h3>Where it declined</h3>
      {now.state === "done" ? (
        <Line answer={now.answer} />
      ) : now.state === "running" ? (
        <p class="t2 row">
          Calling the function again: {short(now.progress, 60)}
          <button type="button" class="link" title="Cancel (Esc)" onClick={cancelCall}>
            Cancel
          </button>
        </p>
      ) : now.state === "error" ? (
        <p class="t2" role="alert">
          {capital(now.error.what)}. {now.error.hint && `${capital(now.error.hint)}. `}
          <button type="button" class="link" onClick={() => void callAgain()}>
            Try again
          </button>
        </p>
      ) : answer.line ? (
        <Line answer={answer} />
      ) : (
        <>
          <p class="t2">
            The trace has what the pattern bound, not where the function returned. It can be called
            again, in a process of its own.
          </p>
          <div class="row actions">
            <button type="button" class="btn sm pri" onClick={() => void callAgain()}>
              Call it again
            </button>
          </div>
        </>
      )}
    </div>
  );
}

function Line({ answer }: { answer: WhyNot }) {
  const { line } = answer;
  if (!line) return <p class="t2">{`${capital(short(answer.notCalled ?? "It is not known", 400))}.`}</p>;
  return (
    <>
      <p class="row wrap g4 why-place">
        <Place file={line.file} line={line.line} />
        {line.ways > 1 && (
          <span class="t2 small">for the last of {count(line.ways)} ways to match</span>
        )}
      </p>
      <Source rule={answer.rule} line={line} />
      {line.values.length > 0 ? (
        <dl class="kv why-values" aria-label="Values that the line saw">
          {line.values.map(({ name, value }) => (
            <>
              <dt class="mono acc b el">{short(name, 60)}</dt>
              <dd class="mono">
                <Clipped text={value} limit={200} />
              </dd>
            </>
          ))}
        </dl>
      ) : (
        <p class="t3 small top8">The line names no value; what the pattern bound is below.</p>
      )}
    </>
  );
}

/** The rule's source with the line marked; the line alone where the source is not recorded. */
function Source({ rule, line }: { rule: number; line: DecliningLine }) {
  const known = rules.value.get(rule);
  const moved = known ? (ruleToday(rule)?.line || known.line) - known.line : 0;
  const at = line.line - moved;
  const lines = known?.source.split("\n") ?? [];
  const inside = known && at >= known.sourceLine && at < known.sourceLine + lines.length;
  return (
    <div class="snip">
      {inside ? (
        <CodeLines text={known.source} language="python" from={known.sourceLine} marked={at} />
      ) : (
        <CodeLines text={line.text} language="python" from={line.line} marked={line.line} />
      )}
    </div>
  );
}
