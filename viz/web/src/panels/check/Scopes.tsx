/** Step, pass, kernel and run: what is known of each, and a button that checks it. */
import {
  betterHint,
  cancelCheck,
  canCheck,
  check,
  checkError,
  checking,
  whyNoCheck,
} from "../../parts/check/checks";
import { CheckMark } from "../../parts/check/CheckMark";
import { markWords, SIGNS } from "../../parts/check/marks";
import { canCheckScope, isOfRun, type Scope, scopes } from "../../parts/check/scopes";
import { WholeSaid } from "../../parts/check/WholeSaid";
import { short } from "../../state/format";
import { isOfPair } from "../../state/link/view";
import { currentKernel, view } from "../../state/state";

export function Scopes() {
  const error = checkError.value;
  const why = whyNoCheck(scopes.value[0]?.of);
  const kernel = isOfRun.value || isOfPair(view.value.page) ? null : currentKernel.value;
  return (
    <div class="check-scopes">
      {scopes.value.map((scope) => (
        <Line key={`${scope.title} ${scope.of}`} scope={scope} />
      ))}
      {kernel && <WholeSaid kernel={kernel.id} />}
      {checking.value && <Progress {...checking.value} />}
      {error && (
        <p class="cdel small" role="alert">
          {error.what}. {error.hint && `${error.hint}.`}
        </p>
      )}
      {why !== null && <p class="t3 small">{why}</p>}
      {why === null && betterHint.value && (
        <p class="t3 small">For more proofs: {short(betterHint.value, 200)}.</p>
      )}
    </div>
  );
}

function Line({ scope }: { scope: Scope }) {
  const { title, name, of, mark, words, whole, what } = scope;
  return (
    <div class="check-line" role="group" aria-label={title}>
      <span class="t2">{title}</span>
      <span class="el" title={name}>
        {name}
      </span>
      <span class={`row check-state ${SIGNS[mark.sign].tint}`} title={markWords(mark)}>
        <CheckMark mark={mark} isNamed />
        <span>{scope.why !== null && !whole ? scope.why : words}</span>
      </span>
      {canCheckScope(scope) && (
        <button
          type="button"
          class="btn sm"
          aria-label={`${whole ? "Check again" : "Check"}: ${title.toLowerCase()}`}
          title={what.rule === undefined ? undefined : "Checks the steps of this rule in this pass"}
          disabled={!canCheck()}
          onClick={() => void check({ ...what, again: whole }, name, of)}
        >
          {whole ? "Again" : "Check"}
        </button>
      )}
    </div>
  );
}

/** How far the check is that goes on, in place of none. */
function Progress({ what, progress }: { what: string; progress: string }) {
  return (
    <div class="row g8" aria-live="polite">
      <span class="t2 el" title={short(progress, 300)}>
        Checking {what}: {short(progress, 80)}
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
}
