/** The step: which rule, what it says, where it is written, what it matched. */
import { go, nextMatch, toggleRuleFilter } from "../../app/actions";
import { count, micros, plural, place, short, clip } from "../../app/format";
import {
  bundle,
  currentRow,
  currentRule,
  currentStep,
  ruleName,
  step,
  view,
} from "../../app/state";
import type { Rule } from "../../data/types";
import { Icon } from "../../ui/Icon";
import { CodeLines } from "../../ui/CodeLines";
import { Clipped, Place } from "../../ui/Text";
import { NodeDetails } from "./NodeDetails";
import { PatternView } from "./PatternView";

export function StepTab() {
  const at = currentStep.value;
  const rule = currentRule.value;
  const b = bundle.value;
  if (!b) return <div class="state">Choose a pass to see its steps.</div>;
  return (
    <>
      {b.error && step.value >= Math.min(b.error.step, b.steps.length) && <Failure />}
      {at === null && <InputGraph />}
      {at && !rule && (
        <div class="sec">
          <div class="h">{ruleName(at.rule)}</div>
          <div class="t2">This rule is not described in the trace.</div>
        </div>
      )}
      {at && rule && <RuleSections rule={rule} us={at.us} />}
      {view.value.slot !== null && <NodeDetails slot={view.value.slot} />}
    </>
  );
}

function RuleSections({ rule, us }: { rule: Rule; us: number }) {
  const here = bundle.value?.steps.filter((s) => s.rule === rule.id).length ?? 0;
  const rest =
    rule.doc.startsWith(rule.equation) && rule.equation.length <= 400
      ? rule.doc.slice(rule.equation.length).trim()
      : rule.doc.trim();
  const only = view.value.rule === rule.id;
  return (
    <>
      <div class="sec">
        <div class="row">
          <h2 class="h">
            <Clipped text={rule.name} limit={120} />
          </h2>
          <span class="sp" />
          {rule.group && <span class="badge">{short(rule.group, 40)}</span>}
        </div>
        {rule.equation && <Equation rule={rule} />}
        {rest && (
          <div class="doc">
            <Clipped text={rest} limit={500} />
          </div>
        )}
        <div class="row counts num">
          <span>
            <b>{count(here)}</b> here
          </span>
          <span>
            <b>{count(rule.matches)}</b> in run
          </span>
          <span>
            <b>{count(rule.declines)}</b> declined
          </span>
          <span>
            this match <b>{micros(us)}</b>
          </span>
        </div>
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
            disabled={here < 2}
            onClick={() => nextMatch(1)}
          >
            Next match
          </button>
        </div>
      </div>
      <div class="sec">
        <h3>Pattern and bindings</h3>
        <PatternView pattern={rule.pattern} />
      </div>
      <div class="sec">
        <h3>
          Rule source
          <span class="sp" />
          <Place file={rule.file} line={rule.line} />
          <Icon name="external" />
        </h3>
        {rule.source ? (
          <div class="snip">
            <CodeLines
              text={rule.source}
              language="python"
              from={rule.sourceLine}
              marked={rule.line}
            />
          </div>
        ) : (
          <span class="t3">The source was not recorded.</span>
        )}
      </div>
    </>
  );
}

/** The equation with the names that the pattern binds set apart. */
function Equation({ rule }: { rule: Rule }) {
  const names = new Set(currentStep.value?.binds.map(([name]) => name));
  const { text, cut } = clip(rule.equation, 400);
  const parts = text.split(/([A-Za-z_]\w*|->|→)/);
  return (
    <div class="eq">
      {parts.map((part, i) =>
        names.has(part) ? (
          <span class="v" key={i}>
            {part}
          </span>
        ) : part === "->" || part === "→" ? (
          <span class="ar" key={i}>
            →
          </span>
        ) : (
          part
        ),
      )}
      {cut > 0 && <span class="t3"> … {count(cut)} more characters, below</span>}
    </div>
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
          ? `What the pass started from. ${plural(b.steps.length, "step")} follow.`
          : "The pass looked at this graph and changed nothing."}
      </div>
      <dl class="kv top8">
        <dt>Pass</dt>
        <dd>
          <Clipped text={b.name} />
        </dd>
        <dt>Direction</dt>
        <dd>{b.bottomUp ? "bottom up: sources first" : "top down: results first"}</dd>
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
    </div>
  );
}
