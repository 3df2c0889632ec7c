/** The step: which rule, what it says, where it is written, what it matched. */
import { go, nextMatch, placeOfMatch, toggleRuleFilter } from "../../state/actions";
import { count, micros, plural, place, short } from "../../state/format";
import {
  bundle,
  currentCompilation,
  currentRow,
  currentRule,
  currentStep,
  firings,
  matchPlace,
  ruleName,
  step,
  view,
} from "../../state/state";
import type { Rule } from "../../data/messages/rule";
import { Clipped, Place } from "../../ui/Text";
import { BisectSection } from "./check/BisectSection";
import { CheckSection } from "./check/CheckSection";
import { NodeDetails } from "./NodeDetails";
import { Go } from "../../parts/Go";
import { RuleText } from "../../parts/rule/RuleText";
import { RuleActions } from "../../parts/whatif/RuleActions";
import { ruleAt } from "../../state/link/links";

export function StepTab() {
  const at = currentStep.value;
  const rule = currentRule.value;
  const b = bundle.value;
  if (!b) return <div class="state">Select a pass to see its steps.</div>;
  return (
    <>
      <BisectSection />
      {b.error && step.value >= Math.min(b.error.step, b.steps.length) && <Failure />}
      {at === null && <InputGraph />}
      {at && !rule && (
        <div class="sec">
          <div class="h">{ruleName(at.rule)}</div>
          <div class="t2">The trace does not describe this rule.</div>
        </div>
      )}
      {at && rule && <RuleSections rule={rule} us={at.us} />}
      {view.value.slot !== null && <NodeDetails slot={view.value.slot} />}
    </>
  );
}

function RuleSections({ rule, us }: { rule: Rule; us: number }) {
  const here = firings.value.get(rule.id)?.length ?? 0;
  const compilation = currentCompilation.value;
  const only = view.value.rule === rule.id;
  return (
    <RuleText
      rule={rule}
      matched
      below={<CheckSection />}
      counts={
        <>
          <span>
            <b>{count(here)}</b> in this pass
            {compilation && ` for ${short(compilation.target ?? "", 40)}, not counted in the run`}
          </span>
          {(us > 0 || rule.us > 0) && (
            <span>
              this match <b>{us > 0 ? micros(us) : "<1 µs"}</b>
            </span>
          )}
        </>
      }
      actions={
        <div class="row wrap g4 actions">
          <button
            type="button"
            class="btn sm"
            aria-pressed={only}
            title="F"
            onClick={() => toggleRuleFilter(rule.id)}
          >
            Only this rule
          </button>
          <button
            type="button"
            class="btn sm"
            title="N"
            disabled={rule.matches < 2 && here < 2}
            onClick={() => nextMatch(1)}
          >
            Next match
          </button>
          <Go class="btn sm" to={ruleAt(rule.id)} title="What the rule did in the whole run">
            Rule page
          </Go>
          <RuleActions rule={rule.name} atStep />
          {matchPlace.value && <span class="t2 small num">{placeOfMatch(matchPlace.value)}</span>}
        </div>
      }
    />
  );
}

function InputGraph() {
  const b = bundle.value!;
  const row = currentRow.value;
  const caller = row ? place(row.caller) : null;
  return (
    <div class="sec">
      <h2 class="h">Input graph</h2>
      <div class="doc">
        {b.steps.length
          ? `The graph that the pass started with. ${plural(b.steps.length, "step")} follow.`
          : b.error
            ? "The pass failed before it changed anything."
            : "The pass changed nothing in this graph."}
      </div>
      <dl class="kv top8">
        <dt>Pass</dt>
        <dd>
          <Clipped text={b.name} />
        </dd>
        <dt>Direction</dt>
        <dd>{b.bottomUp ? "each node before its sources" : "sources first"}</dd>
        <dt>Nodes</dt>
        <dd class="num">{count(b.initial.slot.length)}</dd>
        {row && (
          <>
            <dt>Declined</dt>
            <dd class="num">{plural(row.declines, "time")}</dd>
          </>
        )}
        {caller?.file && (
          <>
            <dt>Called from</dt>
            <dd>
              <Place {...caller} />
            </dd>
          </>
        )}
      </dl>
      {b.truncated && <p class="doc cmov">{b.truncated}</p>}
    </div>
  );
}

function Failure() {
  const error = bundle.value!.error!;
  return (
    <div class="sec">
      <h3>
        Traceback
        <span class="sp" />
        {error.rule >= 0 && (
          <button type="button" class="link" onClick={() => go({ rule: error.rule })}>
            {ruleName(error.rule)}
          </button>
        )}
      </h3>
      <pre class="trace" tabIndex={0}>
        <Clipped text={error.traceback || error.message} limit={4000} />
      </pre>
      {error.full && (
        <details class="engine">
          <summary>Full Python traceback, including engine frames</summary>
          <pre class="trace" tabIndex={0}>
            <Clipped text={error.full} limit={8000} />
          </pre>
        </details>
      )}
    </div>
  );
}
