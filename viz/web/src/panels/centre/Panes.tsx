/** The graphs before and after the step, their heads, and what stands there when there is none. */
import { useEffect, useRef } from "preact/hooks";
import { cancelLoading, reloadBundle } from "../../state/actions";
import {
  announcement,
  bundle,
  loadError,
  loading,
  rows,
  view,
} from "../../state/state";
import { stage } from "../../state/stage";
import { Heads } from "./Heads";
import { PassTextPane } from "../../parts/passtext/PassTextPane";
import { graphLink, shownMode } from "./link";
import { busy, cancelLayout, mountStage } from "./mount";
import { TextPane } from "./TextPane";

export function Panes() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => mountStage(host.current!), []);
  const mode = shownMode.value;
  return (
    <div class="panes" data-region="Graph">
      <Heads />
      <div class="host" ref={host} />
      <span class="sr" role="status">
        {announcement.value}
      </span>
      {mode === "text" && bundle.value && (
        <div class="cover text">
          <TextPane />
        </div>
      )}
      {mode === "own" && (
        <div class="cover text">
          <PassTextPane whole={graphLink.value.scope === "all"} />
        </div>
      )}
      <States />
      <div class="sr" aria-live="polite">
        {view.value.slot !== null && stage.value && bundle.value
          ? stage.value.describe(view.value.slot)
          : ""}
      </div>
      <Working />
    </div>
  );
}

/** Nothing chosen, nothing there, or it could not be read: said in place, with what to do. */
function States() {
  const problem = loadError.value;
  if (problem && problem.rewrite === view.value.rewrite)
    return (
      <div class="cover">
        <div class="state" role="alert">
          <div class="row">
            <span class="sig del">!</span>
            <span class="h">{problem.what}</span>
          </div>
          <span class="mono">{problem.where}</span>
          <span>{problem.hint}</span>
          <span class="row">
            <button type="button" class="btn" onClick={reloadBundle}>
              Try again
            </button>
            <button type="button" class="btn quiet" onClick={() => history.back()}>
              Back
            </button>
          </span>
        </div>
      </div>
    );
  if (view.value.rewrite === null)
    return (
      <div class="cover">
        <div class="state">
          <span class="h">
            {rows.value.length ? "Choose a pass" : "Waiting for the first pass"}
          </span>
          <span>
            {rows.value.length
              ? "Each pass on the left is one graph rewrite. Each of its steps is one rule match. Press ] to open the next pass."
              : "The run has not rewritten a graph yet. New passes appear here while it runs."}
          </span>
        </div>
      </div>
    );
  const b = bundle.value;
  if (b && b.rewrite === view.value.rewrite && b.slots === 0)
    return (
      <div class="cover">
        <div class="state">This pass has no graph: its input was not recorded.</div>
      </div>
    );
  return null;
}

/** Work that takes longer than a glance: a bar, a word, and a way out. */
function Working() {
  const reading = loading.value;
  const work = busy.value;
  if (!reading && !work) return null;
  return (
    <>
      <div class="progress" style={{ top: "34px", bottom: "auto" }}>
        {work && work.progress > 0 ? (
          <i style={{ width: `${Math.round(work.progress * 100)}%` }} />
        ) : (
          <i class="any" />
        )}
      </div>
      <span class="working badge" role="status">
        {reading ? "Loading the pass" : work?.text}
        <button
          type="button"
          class="link"
          title="Cancel (Esc)"
          onClick={() => (reading ? cancelLoading() : cancelLayout())}
        >
          Cancel
        </button>
      </span>
    </>
  );
}
