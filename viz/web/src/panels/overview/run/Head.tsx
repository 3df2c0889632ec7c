/** One line that says what ran, and one that says how much of it there is. */
import { Go } from "../../../parts/Go";
import { pageAt } from "../../../state/link/links";
import { ago } from "../../../parts/traces/ago";
import { bytes, clip, count, millis, plural, short } from "../../../state/format";
import { isTimed, kernelCount, run } from "../../../state/state";
import { CopyButton } from "../../../ui/code/copy";
import { list, overviewLink } from "../data/link";
import { overview } from "../data/store";

export function Head() {
  const r = run.value;
  if (!r) return null;
  const o = overview.value;
  // One or the other: which it is, the overview says.
  const on = o ? o.devices.join(", ") || r.machine : "";
  return (
    <header class="ov-head" data-region="Run">
      <div class="row">
        <h2 class="mono el" title={short(r.command, 2000)}>
          {clip(r.command || r.name, 200).text}
        </h2>
        {r.command && <CopyButton text={r.command} what="command" />}
        <span class="sp" />
        {on && (
          <span key="on" class="t2 el ov-on" title={short(r.machine, 200)}>
            {short(on, 60)}
          </span>
        )}
        {/* By its key: what arrives in front of it is an element of its own, and moves nothing. */}
        <span key="when" class="t2 num nw ov-when">
          {r.commit && (
            <span class="narrow-only">
              <span class="mono">{clip(r.commit, 10).text}</span>
              {r.dirty > 0 && ` + ${plural(r.dirty, "edit")}`}
            </span>
          )}
          {r.started && <span title={r.started}>{ago(r.started) || r.started}</span>}
          {r.seconds > 0 && (
            <Go to={pageAt("timeline")} title="The whole run in the timeline">
              {millis(r.seconds * 1000)}
            </Go>
          )}
        </span>
      </div>
      <p class="num ov-counts">
        <Counts />
      </p>
    </header>
  );
}

/** "60 kernels, 17,103 steps in 2,131 passes, 86 rules, 27,715 launches" */
function Counts() {
  const t = run.value!.totals;
  const o = overview.value;
  const more = (o?.kernels.length ?? 0) > 12;
  const parts = [
    t.kernels > 0 && (
      <button
        type="button"
        class="link"
        disabled={!more}
        title="List all kernels"
        onClick={() => list({ all: !overviewLink.peek().all })}
      >
        {kernelCount(t.kernels)}
      </button>
    ),
    t.rewrites > 0 && (
      <>
        <Go to={pageAt("graphs")} title="The first pass in the graphs">
          {plural(t.steps, "step")}
        </Go>{" "}
        in{" "}
        <Go
          to={pageAt(isTimed.value ? "timeline" : "graphs")}
          title={isTimed.value ? "All passes in the timeline" : "The passes, with their graphs"}
        >
          {plural(t.rewrites, "pass", "passes")}
        </Go>
      </>
    ),
    o && o.ruleCount > 0 && (
      <Go to={pageAt("rules")} title="Rules that matched">
        {plural(o.ruleCount, "rule")}
      </Go>
    ),
    t.launches > 0 && (
      <Go to={pageAt("timeline")} title="All launches in the timeline">
        {plural(t.launches, "launch", "launches")}
      </Go>
    ),
    run.value!.processes > 1 && plural(run.value!.processes, "process", "processes"),
  ].filter(Boolean);
  return (
    <>
      {parts.map((part, i) => (
        <span key={i}>
          {part}
          {i < parts.length - 1 && ","}
        </span>
      ))}
      <span class="sp" />
      <span class="t3" title={`${count(run.value!.bytes)} bytes`}>
        {bytes(run.value!.bytes)} recorded
      </span>
    </>
  );
}
