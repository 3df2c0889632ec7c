/** Which step is wrong: what looks for it, how far the search is, and what it has found. */
import {
  canSearch,
  canSearchKernel,
  closeSearch,
  findInKernel,
  findInRun,
  openWrong,
  placesOf,
  search,
  type Search,
  whyNoSearch,
} from "../../parts/check/bisect";
import { nextDiffering, someDiffer } from "../../parts/check/checks";
import { isOfRun, subjectScopes } from "../../parts/check/scopes";
import { short } from "../../state/format";
import { isOfPair } from "../../state/link/view";
import { currentKernel, view } from "../../state/state";
import { KernelAnswer, RunAnswer } from "./Answer";

export function Wrong({ close }: { close: () => void }) {
  const now = search.value;
  const why = whyNoSearch();
  if (!now && why !== null) return null;
  return (
    <section class="check-wrong" role="region" aria-label="Which step is wrong" aria-live="polite">
      <h3>
        Which step is wrong?
        <span class="sp" />
        {now?.state === "done" && <span class="t3 small num">{effort(now)}</span>}
      </h3>
      {now?.state === "running" && (
        <div class="row g8">
          <span class="t2 el">
            Searching {now.name}: {short(now.progress, 80)}
          </span>
          <span class="sp" />
          <button type="button" class="btn sm" title="Esc" onClick={() => void closeSearch()}>
            Cancel
          </button>
        </div>
      )}
      {now?.state === "error" && (
        <p class="cdel" role="alert">
          {now.error.what}. {now.error.hint && `${now.error.hint}.`}
        </p>
      )}
      {now?.state === "done" && <Answered now={now} close={close} />}
      {now === null && (
        <p class="t2">
          Compiles the kernels again with the code on disk, and compares what they compute with the
          reference.
        </p>
      )}
      {now?.state !== "running" && why === null && <Begin />}
    </section>
  );
}

/** "in 11.2 s, 59 kernels" */
function effort(now: Search & { state: "done" }): string {
  if (now.answer.kind === "kernel") return `${now.name}, ${now.answer.found.asked} states run`;
  return `${now.name}, in ${now.answer.found.seconds} s`;
}

function Answered({ now, close }: { now: Search & { state: "done" }; close: () => void }) {
  const { answer, of } = now;
  const [first] = placesOf(answer);
  const show = (at: { rewrite: number; step: number }): void => {
    close();
    openWrong(at, of);
  };
  return (
    <>
      {answer.kind === "kernel" ? (
        <KernelAnswer found={answer.found} show={show} />
      ) : (
        <RunAnswer found={answer.found} show={show} />
      )}
      <div class="row wrap g8">
        {first && (
          <button type="button" class="btn pri" onClick={() => show(first)}>
            Show the wrong step
          </button>
        )}
        {someDiffer.value && view.value.page === "graphs" && (
          <button type="button" class="btn" onClick={() => nextDiffering(1)}>
            Next difference <kbd>D</kbd>
          </button>
        )}
        <button type="button" class="btn quiet" onClick={() => void closeSearch()}>
          Clear
        </button>
      </div>
    </>
  );
}

/** What a search may look into from here. */
function Begin() {
  const kernel = isOfRun.value || isOfPair(view.value.page) ? null : currentKernel.value;
  const runs = isOfPair(view.value.page) ? subjectScopes.value.map((scope) => scope.of) : [];
  return (
    <div class="row wrap g8">
      {kernel && (
        <button
          type="button"
          class="btn"
          disabled={!canSearchKernel()}
          onClick={() => void findInKernel(kernel.id)}
        >
          Find it in this kernel
        </button>
      )}
      {runs.map((of) => (
        <button
          type="button"
          class="btn"
          key={of}
          disabled={!canSearch()}
          onClick={() => void findInRun(of)}
        >
          Find it in run {of}
        </button>
      ))}
      {!runs.length && (
        <button type="button" class="btn" disabled={!canSearch()} onClick={() => void findInRun()}>
          Find it in the run
        </button>
      )}
    </div>
  );
}
