/** The step: which rule, what it says, where it is written, what it matched. */
import { go, nextMatch, placeOfMatch, select } from "../../state/actions";
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
import { Clipped, Place } from "../../ui/code/Text";
import { Disclosure } from "../../ui/over/Disclosure";
import { slotName } from "../../parts/slotName";
import type { Step } from "../../data/messages/bundle";
import { Actions } from "./Actions";
import { NodeHistory } from "./NodeDetails";
import { VerdictBadge, VerdictSection } from "./Verdict";
import { Go } from "../../parts/Go";
import { isPass } from "../../parts/rule/patternWords";
import { RuleText } from "../../parts/rule/RuleText";
import { ruleAt } from "../../state/link/links";

export function StepTab() {
  const at = currentStep.value;
  const rule = currentRule.value;
  const b = bundle.value;
  if (!b) return <div class="state">Select a pass to see its steps.</div>;
  return (
    <>
      {b.error && step.value >= Math.min(b.error.step, b.steps.length) && <Failure />}
      {at === null && <InputGraph />}
      {at && !rule && (
        <div class="sec">
          <div class="h">{ruleName(at.rule)}</div>
          <div class="t2">The trace does not describe this rule.</div>
        </div>
      )}
      {at && rule && <RuleSections rule={rule} />}
      {at && <Changed at={at} begins={rule !== null && isPass(rule)} />}
      {at && rule && <Cost rule={rule} us={at.us} />}
      {view.value.slot !== null && <NodeHistory slot={view.value.slot} />}
      {at && <VerdictSection />}
    </>
  );
}

function RuleSections({ rule }: { rule: Rule }) {
  const here = firings.value.get(rule.id)?.length ?? 0;
  const compilation = currentCompilation.value;
  return (
    <RuleText
      rule={rule}
      matched
      state={<VerdictBadge />}
      counts={
        matchPlace.value ? (
          <span title={`${count(here)} in this pass`}>{placeOfMatch(matchPlace.value)}</span>
        ) : (
          `${count(here)} in this pass${compilation ? ` for ${short(compilation.target ?? "", 40)}, not counted in the run` : ""}, ${count(rule.matches)} in the run`
        )
      }
      actions={
        <div class="row wrap actions">
          <button
            type="button"
            class="btn"
            title={matchPlace.value ? `${placeOfMatch(matchPlace.value)} (N)` : "N"}
            disabled={rule.matches < 2 && here < 2}
            onClick={() => nextMatch(1)}
          >
            Next match <kbd>N</kbd>
          </button>
          <Actions rule={rule} />
        </div>
      }
    />
  );
}

const KINDS = [
  ["del", "−", "removed"],
  ["add", "+", "added"],
  ["mov", "◆", "moved"],
] as const;
/** Nodes of a change that are listed. */
const MOST_NODES = 60;

/** The nodes that the step removed, added and gave other sources. Of a pass as a whole, it is what there is to
 * say, and `begins` open. */
function Changed({ at, begins }: { at: Step; begins: boolean }) {
  return (
    <Disclosure
      id={begins ? "changed by the pass" : "changed"}
      begins={begins}
      title="What changed"
      figure={KINDS.map(
        ([kind, sign, word]) =>
          at[word].length > 0 && (
            <span key={kind} class={`badge num ${kind}`} title={`${count(at[word].length)} ${word}`}>
              {sign}
              {count(at[word].length)}
            </span>
          ),
      )}
    >
      {() => (
        <ul class="changed">
          {KINDS.flatMap(([kind, sign, word]) =>
            at[word].slice(0, MOST_NODES).map((slot) => (
              <li key={`${kind}${slot}`}>
                <span class={`badge ${kind}`}>{sign}</span>{" "}
                <button type="button" class="link mono el" onClick={() => select(slot)}>
                  {short(slotName(slot), 80)}
                </button>
              </li>
            )),
          )}
          {KINDS.some(([, , word]) => at[word].length > MOST_NODES) && (
            <li class="t3">More than {MOST_NODES} of a kind: the text of the step lists all.</li>
          )}
        </ul>
      )}
    </Disclosure>
  );
}

function Cost({ rule, us }: { rule: Rule; us: number }) {
  if (us <= 0 && rule.us <= 0) return null;
  return (
    <Disclosure id="cost" title="Cost of this rule" figure={`${micros(rule.us)} in the run`}>
      {() => (
        <dl class="kv">
          <dt>This match</dt>
          <dd class="num">{us > 0 ? micros(us) : "<1 µs"}</dd>
          <dt>All its matches</dt>
          <dd class="num">
            {micros(rule.us)} in {plural(rule.matches, "match", "matches")}
          </dd>
          <dt>Declined</dt>
          <dd class="num">{plural(rule.declines, "time")}</dd>
          <dt />
          <dd>
            <Go to={ruleAt(rule.id)} class="link">
              Tries, and passes by time
            </Go>
          </dd>
        </dl>
      )}
    </Disclosure>
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
