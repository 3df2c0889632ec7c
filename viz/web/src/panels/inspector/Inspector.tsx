/** The right column: the step and its rule, the selected node, or why a rule did not fire there. */
import { go } from "../../state/actions";
import { bundle, sidePanel, unreadable, view } from "../../state/state";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";
import { TabText } from "../../ui/TabText";
import { NodeTab } from "./NodeTab";
import { Pins } from "./Pins";
import { togglePin } from "./pinned";
import { StepTab } from "./StepTab";
import { WhyTab } from "./why/WhyTab";

const TABS = [
  ["step", "Step"],
  ["node", "Node"],
  ["why", "Why not"],
] as const;

export function Inspector() {
  const tab = view.value.tab;
  return (
    <aside
      class={sidePanel.value === "insp" ? "insp over" : "insp"}
      data-region="Inspector"
      aria-label="Inspector"
    >
      <div class="ph">
        <div class="tabs" role="tablist" aria-label="Inspector">
          {TABS.map(([key, name]) => (
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
              <TabText text={name} />
            </button>
          ))}
        </div>
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
      <div class="scroll" role="tabpanel" id="inspector-body" aria-labelledby={`tab-${tab}`}>
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
