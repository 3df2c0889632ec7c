/** Why a rule did not fire: the rule and the node that are asked about, and below them the answer. */
import { useEffect } from "preact/hooks";
import { select } from "../../../state/actions";
import { count, short } from "../../../state/format";
import { ruleAt } from "../../../state/link/links";
import { bundle, ruleName, rules, step, view } from "../../../state/state";
import { Failed } from "../../../parts/Failed";
import { Go } from "../../../parts/Go";
import { slotName } from "../../../parts/slotName";
import { Icon } from "../../../ui/Icon";
import { Answer } from "./answer/Answer";
import { askNear } from "./commands";
import { whyLink } from "./data/link";
import { NearList } from "./NearList";
import { OtherRules } from "./OtherRules";
import { RuleChooser } from "./RuleChooser";
import { askedNode, canAsk, choosing, watchedWhy } from "./data/store";
import { useHeld } from "./answer/useHeld";

export function WhyTab() {
  const { rule, near } = whyLink.value;
  // left open in another pass or tab, the list is not what a reader comes back for
  useEffect(() => () => void (choosing.value = false), []);
  if (!bundle.value) return <div class="state">Select a pass to ask about its rules.</div>;
  const open = choosing.value || rule === null;
  if (!canAsk()) return <Offline rule={rule} />;
  return (
    <div class="why">
      <Asked open={open} />
      {open ? (
        <RuleChooser />
      ) : (
        <div
          id="why-answer"
          class="why-answer"
          tabIndex={-1}
          role="region"
          aria-label={`Why ${ruleName(rule)} did not fire`}
        >
          {askedNode.value === null ? (
            <>
              {view.value.slot !== null && (
                <p class="sec t2">The selected node is not in the graph at this step.</p>
              )}
              <NearList rule={rule} />
            </>
          ) : (
            <>
              <Said />
              {near ? (
                <div class="sec">
                  <NearList rule={rule} inner />
                </div>
              ) : (
                <div class="sec row wrap">
                  <button type="button" class="btn sm" onClick={askNear}>
                    Near misses in this pass
                  </button>
                  <Go class="btn sm" to={ruleAt(rule)} title="What the rule did in the whole run">
                    Rule page
                  </Go>
                </div>
              )}
              <OtherRules />
            </>
          )}
        </div>
      )}
    </div>
  );
}

/** In an exported file. */
function Offline({ rule }: { rule: number | null }) {
  return (
    <div class="state">
      <div class="h">This answer needs the trace</div>
      <div>
        An exported file does not hold why each rule did not fire at each node. Open it with{" "}
        <code>uopviz open</code>, or the trace itself, and ask there.
      </div>
      {rule !== null && (
        <Go class="btn" to={ruleAt(rule)}>
          What {ruleName(rule)} did in this run
        </Go>
      )}
    </div>
  );
}

/** The question: a rule, and a node at a step. */
function Asked({ open }: { open: boolean }) {
  const { rule } = whyLink.value;
  const { slot } = view.value;
  const known = rule === null ? undefined : rules.value.get(rule);
  return (
    <div class="sec why-asked">
      <span class="t3">Rule</span>
      {rule === null ? (
        <span class="field t3">choose one below</span>
      ) : (
        <button
          type="button"
          class="field"
          aria-expanded={open}
          title="Choose another rule (W)"
          onClick={() => (choosing.value = !choosing.peek())}
        >
          <b class="mono el">{ruleName(rule)}</b>
          <span class="sp" />
          <Icon name="down" />
        </button>
      )}
      <span class="t3">Node</span>
      {slot === null ? (
        <span class="field t3">
          none: <span class="el">click one in the graph</span>
        </span>
      ) : (
        <span class="field">
          <b class="mono el">{short(slotName(slot), 60)}</b>
          <span class="t3 num nw">{step.value ? `step ${count(step.value)}` : "input"}</span>
          <span class="sp" />
          <button
            type="button"
            class="btn sm ico quiet"
            aria-label="Ask about no node"
            title="Clear the selection"
            onClick={() => select(null)}
          >
            <Icon name="close" />
          </button>
        </span>
      )}
      {known?.equation && !open && <div class="eq">{short(known.equation, 400)}</div>}
    </div>
  );
}

/** The answer, or a message in its place. */
function Said() {
  const problem = watchedWhy.error.value;
  const { value, isOld } = useHeld(watchedWhy.answer.value, whyLink.value.rule);
  if (problem) return <Failed problem={problem} retry={watchedWhy.retry} />;
  if (!value)
    return (
      <div class="state" role="status">
        Working it out
      </div>
    );
  return (
    <div class={isOld ? "old" : undefined} aria-busy={isOld}>
      <Answer answer={value} />
    </div>
  );
}
