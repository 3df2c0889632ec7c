/** A run that failed begins with the failure: what, where, and the way to its last graph. */
import { Go } from "../../../parts/Go";
import { passAt } from "../../../state/link/links";
import { run } from "../../../state/state";
import { copyText } from "../../../ui/code/copy";
import { Clipped } from "../../../ui/code/Text";
import { Icon } from "../../../ui/Icon";

export function Failure() {
  const problem = run.value?.problems.find((p) => p.rewrite !== null);
  if (!problem || problem.rewrite === null) return null;
  const said = `${problem.what}\n  at   ${problem.where}\n  hint: ${problem.hint}`;
  return (
    <section class="banner ov-failure" role="alert" data-region="Failure" aria-label="Failure">
      <span class="sig">!</span>
      <div class="words">
        <div class="h">
          <Clipped text={problem.what} limit={240} />
        </div>
        <div class="t2">
          In <Clipped text={problem.where} limit={200} />.
        </div>
      </div>
      <div class="row wrap">
        <button type="button" class="btn" onClick={() => void copyText(said, "The report")}>
          <Icon name="copy" />
          Copy report
        </button>
        <Go class="btn pri" to={passAt(problem.rewrite, problem.step)}>
          Show the last graph
        </Go>
      </div>
    </section>
  );
}
