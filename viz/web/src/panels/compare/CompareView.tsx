/** Two runs side by side: what one compiler did that the other did not. */
import { Failed } from "../../parts/Failed";
import { short } from "../../state/format";
import { openRuns } from "../../state/state";
import { Alone } from "./Alone";
import { isPairOpen } from "./data/ask";
import { comparison, watchedPair } from "./data/store";
import { compareLink } from "./data/link";
import { First } from "./overview/First";
import { Head, Totals } from "./overview/Head";
import { Kernels } from "./overview/Kernels";
import { EnvironmentTab, PassesTab } from "./overview/Others";
import { FewRules, RulesTab } from "./overview/Rules";
import { Sources } from "./source/Sources";
import { Walk } from "./walk/Walk";

export function CompareView() {
  if (!isPairOpen()) return <NoPair />;
  if (compareLink.value.walk !== null) return <Walk />;
  const c = comparison.value;
  const problem = watchedPair.error.value;
  return (
    <main class="ov cmp" aria-label="Comparison">
      <Head />
      {c && <Totals />}
      {c && <Notes />}
      {problem && !c && <Failed problem={problem} retry={watchedPair.retry} />}
      {!problem && !c && (
        <div class="state" role="status">
          Comparing the two runs
        </div>
      )}
      {c && <Tab />}
    </main>
  );
}

/** One run, or a link to runs that are not open. */
function NoPair() {
  return (
    <main class="ov cmp" aria-label="Comparison">
      {openRuns.value.length > 1 && <Head />}
      {openRuns.value.length > 1 ? (
        <div class="state">This link names a run that is not open. Choose two runs above.</div>
      ) : (
        <Alone />
      )}
    </main>
  );
}

/** What the comparison says of itself: that it goes on, that all is equal, what is left out. */
function Notes() {
  const c = comparison.value!;
  return (
    <>
      {!c.done && (
        <div
          class="cmp-progress"
          role="progressbar"
          aria-label="Comparison"
          aria-valuenow={Math.round(100 * c.progress)}
        >
          <i style={{ width: `${Math.round(100 * c.progress)}%` }} />
        </div>
      )}
      {(c.notes.length > 0 || (c.done && c.equal)) && (
        <ul class="ov-notes">
          {c.done && c.equal && (
            <li class="row">
              <span class="sig eq">=</span>
              <span>
                The runs are equal: every kernel, step and text is the same. Only times differ.
              </span>
            </li>
          )}
          {c.notes.map((note) => (
            <li class="row" key={note}>
              <span class="sig mov">!</span>
              <span>{short(note, 400)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Tab() {
  switch (compareLink.value.tab) {
    case "rules":
      return <RulesTab />;
    case "passes":
      return <PassesTab />;
    case "environment":
      return <EnvironmentTab />;
    case "kernels":
      return (
        <>
          <div class="cmp-split">
            <div class="cmp-col">
              <Kernels />
              <FewRules />
            </div>
            <First />
          </div>
          <Sources />
        </>
      );
  }
}
