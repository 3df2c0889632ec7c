/** Is it right: the worst of what is looked at, and opened, each part of it with what checks it. */
import { search } from "../../parts/check/bisect";
import { checking, checkOpen } from "../../parts/check/checks";
import { CheckMark } from "../../parts/check/CheckMark";
import { SIGNS, worstWords } from "../../parts/check/marks";
import { type Scope, subjectScopes } from "../../parts/check/scopes";
import { awaited } from "../../parts/kernel/kernel";
import { isOfPair } from "../../state/link/view";
import { view } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/over/Menu";
import { Scopes } from "./Scopes";
import { Wrong } from "./Wrong";

export function Check() {
  const subject = subjectScopes.value;
  if (!subject.length || awaited.value) return null; // it would move aside for Run
  const now = busy();
  return (
    <Menu
      opened={checkOpen}
      label={`Check: ${now ?? subject.map(said).join("; ")}`}
      class="btn check"
      popup="check-pop"
      title="Is it right? (C)"
      button={
        <>
          <span class="t2">Check</span>
          {now !== null ? (
            <span class="t2">{now}</span>
          ) : (
            subject.map((scope) => <State key={scope.of} scope={scope} />)
          )}
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          <div class="row check-head">
            <b>Is it right?</b>
            <span class="sp" />
            <button
              type="button"
              class="btn sm ico quiet"
              aria-label="Close"
              title="Close (Esc)"
              onClick={close}
            >
              <Icon name="close" />
            </button>
          </div>
          <Scopes />
          <Wrong close={close} />
        </>
      )}
    </Menu>
  );
}

/** What goes on, in two words; null for nothing. */
function busy(): string | null {
  if (checking.value) return "checking…";
  return search.value?.state === "running" ? "searching…" : null;
}

const words = (scope: Scope): string => scope.why ?? worstWords(scope.mark);
const said = (scope: Scope): string =>
  isOfPair(view.value.page) ? `${scope.title} ${words(scope)}` : words(scope);

function State({ scope }: { scope: Scope }) {
  return (
    <span class={`row check-state ${scope.why === null ? SIGNS[scope.mark.sign].tint : "plain"}`}>
      {isOfPair(view.value.page) && <span class="badge">{scope.of}</span>}
      {scope.why === null && <CheckMark mark={scope.mark} isNamed />}
      {words(scope)}
    </span>
  );
}
