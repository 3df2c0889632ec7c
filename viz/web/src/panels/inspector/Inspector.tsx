/** The right column: the step and its rule, the selected node, or why a rule did not fire there. */
import { go } from "../../state/actions";
import { slotName } from "../../parts/slotName";
import { bundle, currentRule, currentStep, sidePanel, unreadable, view } from "../../state/state";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";
import { TabText } from "../../ui/TabText";
import { NodeTab } from "./NodeTab";
import { Pins } from "./Pins";
import { togglePin } from "./pinned";
import { StepTab } from "./StepTab";
import { WhyTab } from "./why/WhyTab";

export function Inspector() {
  const { tab, slot } = view.value;
  const node = slot === null ? null : slotName(slot).split(" ")[0]!;
  // Of another compiler a trace may name no rules: then there is the step alone.
  const first = !currentStep.value || currentRule.value ? "Rule" : "Step";
  const tabs = [
    { key: "step", title: first, more: null },
    { key: "node", title: "Node", more: node },
  ] as const;
  return (
    <aside
      class={sidePanel.value === "insp" ? "insp over" : "insp"}
      data-region="Inspector"
      aria-label="Inspector"
    >
      <div class="ph">
        {tab === "why" ? (
          <>
            <button
              type="button"
              class="btn sm quiet"
              title="Back to the rule (Esc)"
              onClick={() => go({ tab: "step" }, "replace")}
            >
              <Icon name="prev" />
              Back
            </button>
            <h2 class="why-title" id="tab-why">
              Why not
            </h2>
          </>
        ) : (
          <div class="tabs" role="tablist" aria-label="Inspector">
            {tabs.map(({ key, title, more }) => (
              <button
                type="button"
                class="tab"
                role="tab"
                key={key}
                id={`tab-${key}`}
                aria-controls="inspector-body"
                aria-selected={tab === key}
                onClick={() => go({ tab: key }, "replace")}
              >
                <TabText text={title} />
                {more && <span class="mono t3 small">&ensp;{more}</span>}
              </button>
            ))}
          </div>
        )}
        <span class="sp" />
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label="Pin what is shown"
          title="Pin (P)"
          disabled={!bundle.value}
          onClick={togglePin}
        >
          <Icon name="pin" />
        </button>
      </div>
      <Pins />
      <div class="scroll" role={tab === "why" ? "region" : "tabpanel"} id="inspector-body" aria-labelledby={`tab-${tab}`}>
        {unreadable.value ? (
          <div class="state">The pass could not be read.</div>
        ) : tab === "step" ? (
          <StepTab />
        ) : tab === "node" ? (
          <NodeTab />
        ) : (
          <WhyTab />
        )}
      </div>
      <Divider
        part="insp"
        label="Width of the inspector"
        class="insp-edge"
        axis="x"
        grows={-1}
        min={280}
        max={560}
      />
    </aside>
  );
}
