/** A pass that failed says so above its last graph: what happened, where, what to do next. */
import { count, place, short } from "../state/format";
import { goStep } from "../state/actions";
import { arrived, bundle, currentKernel, currentRow, ruleName, rules, step } from "../state/state";
import type { RewriteError } from "../data/messages/bundle";
import { Clipped, openEditor, Place } from "../ui/code/Text";
import { copyText } from "../ui/code/copy";
import { Icon } from "../ui/Icon";

export function Banner() {
  const b = arrived.value ? bundle.value : null;
  if (!b?.error) return b?.truncated ? <Truncated text={b.truncated} /> : <div />;
  const { error } = b;
  const [what = "", ...details] = error.message.split("\n");
  const rule = rules.value.get(error.rule);
  const last = Math.min(error.step, b.steps.length);
  const at = place(error.place || (rule ? `${rule.file}:${rule.line}` : ""));
  const kernel = currentKernel.value?.name;
  return (
    <div class="banner" role="alert">
      <span class="sig">!</span>
      <div class="words">
        <div class="h">
          <Clipped text={what} limit={240} />
        </div>
        <div class="t2">
          Pass <b>{short(currentRow.value?.name ?? b.name)}</b>
          {kernel && (
            <>
              , kernel <b>{short(kernel)}</b>
            </>
          )}
          , after step {count(last)}
          {error.rule >= 0 && (
            <>
              , in rule <b>{ruleName(error.rule)}</b>
            </>
          )}
          {at.file && (
            <>
              , <Place {...at} />
            </>
          )}
          . All steps before it are recorded.
        </div>
        {error.loop && error.loop.length > 0 && <Loop loop={error.loop} />}
        {b.truncated && (
          <div class="t2">
            <Clipped text={b.truncated} />
          </div>
        )}
        {details.length > 0 && (
          <pre class="mono t2">
            <Clipped text={details.join("\n")} limit={2000} />
          </pre>
        )}
      </div>
      <div class="row wrap">
        {step.value !== last && (
          <button type="button" class="btn" onClick={() => goStep(last)}>
            Last valid step
          </button>
        )}
        <button
          type="button"
          class="btn"
          onClick={() =>
            void copyText(`${error.message}\n\n${error.full || error.traceback}`, "Report")
          }
        >
          <Icon name="copy" />
          Copy report
        </button>
        {at.file && (
          <button type="button" class="btn pri" onClick={() => openEditor(at.file, at.line)}>
            Open rule
          </button>
        )}
      </div>
    </div>
  );
}

/** The matches that lead back to where they began, each with the step that did it. */
function Loop({ loop }: { loop: NonNullable<RewriteError["loop"]> }) {
  return (
    <div class="t2 loop">
      Repeating sequence:{" "}
      {loop.map((l, i) => (
        <span key={i} class="nw">
          {i > 0 && " → "}
          <button type="button" class="link mono" onClick={() => goStep(l.step)}>
            {ruleName(l.rule)}
          </button>{" "}
          (step {count(l.step)})
        </span>
      ))}
      , then the first again.
    </div>
  );
}

function Truncated({ text }: { text: string }) {
  return (
    <div class="banner soft">
      <span class="sig mov">◆</span>
      <div class="words">
        <Clipped text={text} />
      </div>
    </div>
  );
}
