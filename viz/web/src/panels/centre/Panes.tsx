/** The graphs before and after the step, their titles, and what stands there when there is none. */
import { useEffect, useRef } from "preact/hooks";
import { cancelLoading, reloadBundle } from "../../state/actions";
import { count, plural } from "../../state/format";
import {
  announcement,
  bundle,
  currentStep,
  loadError,
  loading,
  newSteps,
  ruleName,
  rows,
  step,
  view,
} from "../../state/state";
import { stage, stats } from "../../state/stage";
import { graphLink } from "./link";
import { busy, cancelLayout, mountStage } from "./mount";
import { Legend } from "./Legend";
import { TextPane } from "./TextPane";

export function Panes() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => mountStage(host.current!), []);
  const mode = graphLink.value.mode;
  return (
    <div class="panes" data-region="Graph">
      <Titles />
      <div class="host" ref={host} />
      <Foot />
      {mode === "text" && bundle.value && (
        <div class="cover text">
          <TextPane />
        </div>
      )}
      <States />
      <div class="sr" aria-live="polite">
        {view.value.slot !== null && stage.value && bundle.value
          ? stage.value.describe(view.value.slot)
          : ""}
      </div>
      {newSteps.value > 0 && (
        <button type="button" class="pill num" onClick={reloadBundle}>
          {plural(newSteps.value, "new step")}
        </button>
      )}
      <Working />
    </div>
  );
}

function Titles() {
  const k = step.value;
  const before = bundle.value?.steps[k - 2];
  const at = currentStep.value;
  if (graphLink.value.mode !== "side")
    return (
      <div class="pts one">
        <div class="pt">
          <b>{graphLink.value.mode === "text" ? "Text" : "Merged"}</b>
          <span class="num">{k ? `${count(k - 1)} → ${count(k)}` : "input graph"}</span>
          {at && (
            <span class="el t3" title={`by ${ruleName(at.rule)}`}>
              by <span class="mono">{ruleName(at.rule)}</span>
            </span>
          )}
        </div>
      </div>
    );
  return (
    <div class="pts">
      <div class="pt">
        <b>Before</b>
        <span class="num">{k > 1 ? `step ${count(k - 1)}` : "input graph"}</span>
        {before && (
          <span class="el t3 wide" title={`after ${ruleName(before.rule)}`}>
            after <span class="mono">{ruleName(before.rule)}</span>
          </span>
        )}
      </div>
      <div class="pt">
        <b>After</b>
        <span class="num">{k ? `step ${count(k)}` : "input graph"}</span>
        {at && (
          <span class="el t3" title={`by ${ruleName(at.rule)}`}>
            by <span class="mono">{ruleName(at.rule)}</span>
          </span>
        )}
      </div>
    </div>
  );
}

function Foot() {
  const s = stats.value;
  return (
    <div class="pf num">
      {graphLink.value.mode !== "text" && <Legend />}
      <span class="sp" />
      <span class="sr" role="status">
        {announcement.value}
      </span>
      {s && bundle.value && graphLink.value.mode !== "text" && (
        <>
          <span title="Nodes of the graph after the step that are drawn by themselves">
            {count(s.shown)} of {plural(s.total, "node")}
            <span class="wide"> shown</span>
          </span>
          {s.folded > 0 && (
            <span title="Index expressions and repeated blocks; a click on a box opens it">
              {count(s.folded)} folded
              <span class="wide"> into boxes</span>
            </span>
          )}
          {s.hidden > 0 && (
            <span class="wide el" title="Press A for all nodes, or click a group such as +37">
              {count(s.hidden)} farther from the change
            </span>
          )}
          <span title="Zoom">{Math.round(s.zoom * 100)}%</span>
        </>
      )}
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
      <div class="progress" style={{ top: "26px", bottom: "auto" }}>
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
