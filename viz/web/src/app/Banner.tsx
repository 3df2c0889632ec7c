/** A pass that failed says so above its last graph: what happened, where, what to do next. */
import { count, short } from "./format";
import { goStep } from "./actions";
import { bundle, currentKernel, currentRow, ruleName, rules, step } from "./state";
import { Clipped, copyText, openEditor } from "../ui/Text";
import { Icon } from "../ui/Icon";

export function Banner() {
  const b = bundle.value;
  if (!b?.error) return b?.truncated ? <Truncated text={b.truncated} /> : <div />;
  const { error } = b;
  const [what = "", ...details] = error.message.split("\n");
  const rule = rules.value.get(error.rule);
  const last = Math.min(error.step, b.steps.length);
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
          . Everything up to it is saved.
        </div>
        {details.length > 0 && (
          <pre class="mono t2">
            <Clipped text={details.join("\n")} limit={2000} />
          </pre>
        )}
      </div>
      <div class="row wrap">
        {step.value !== last && (
          <button type="button" class="btn" onClick={() => goStep(last)}>
            Last good step
          </button>
        )}
        <button
          type="button"
          class="btn"
          onClick={() => copyText(`${error.message}\n\n${error.traceback}`, "The report")}
        >
          <Icon name="copy" />
          Copy report
        </button>
        {rule && (
          <button type="button" class="btn pri" onClick={() => openEditor(rule.file, rule.line)}>
            Open rule
          </button>
        )}
      </div>
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
