/** Nothing recorded yet, or nothing to be had: one sentence, one command to copy. */
import { CopyButton } from "../../ui/code/copy";
import { allData } from "../../state/actions";
import { retryNow } from "../../state/live";
import { short } from "../../state/format";
import { Recent } from "./Recent";
import { fatal, run } from "../../state/state";

const COMMAND = "VIZ=1 python examples/digits.py";

export function Empty() {
  const problem = fatal.value;
  return (
    <main class="empty" data-region="Start">
      <div>
        <div>
          <Picture />
          {problem ? (
            <div role="alert">
              <h1>{problem.what}</h1>
              <p>{problem.hint}</p>
              <p class="mono">{problem.where}</p>
              <p>
                <button type="button" class="btn" onClick={() => retryNow(allData())}>
                  Try now
                </button>
              </p>
            </div>
          ) : (
            <>
              <h1>
                {run.value?.command
                  ? `${short(run.value.name)} rewrote no graphs`
                  : "No run is open"}
              </h1>
              <p>
                Put <code>VIZ=1</code> in front of any program that uses the compiler: it prints the
                address of its own page, which fills in while the program runs.
              </p>
            </>
          )}
        </div>
        {!problem && (
          <>
            <div class="card">
              <div class="row cmd">
                <span class="t3 mono">$</span>
                <code class="big">
                  <span class="acc">VIZ=1</span>
                  {COMMAND.slice(5)}
                </code>
                <span class="sp" />
                <CopyButton text={COMMAND} what="command" />
              </div>
            </div>
            <Recent />
            <div class="trio">
              <Card title="Open a trace" command="uopviz open trace.viz" />
              <Card title="Record only" command="VIZ=-1 python train.py" />
              <Card title="Record a block" command='with viz.record("t.viz"):' />
            </div>
          </>
        )}
      </div>
    </main>
  );
}

function Card({ title, command }: { title: string; command: string }) {
  return (
    <div class="card">
      <b>{title}</b>
      <code class="t2">{command}</code>
    </div>
  );
}

function Picture() {
  return (
    <svg class="picture" width="120" height="64" viewBox="0 0 120 64" aria-hidden="true">
      <path d="M18 16C18 32 44 30 44 44M70 16C70 32 44 30 44 44" />
      <path class="dash" d="M70 16C70 32 100 30 100 44" />
      <rect class="range" x="4" y="6" width="28" height="14" rx="7" />
      <rect class="const" x="56" y="6" width="28" height="14" rx="3" />
      <rect class="accent" x="28" y="40" width="32" height="16" rx="4" />
      <rect class="dash" x="85" y="40" width="30" height="16" rx="4" />
    </svg>
  );
}
