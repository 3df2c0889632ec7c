/** The selected node; or how to select one. */
import { bundle, view } from "../../state/state";
import { Across } from "./history/Across";
import { NodeDetails } from "./NodeDetails";

export function NodeTab() {
  const slot = view.value.slot;
  if (!bundle.value || slot === null)
    return (
      <div class="state">
        <span class="h">No node selected</span>
        <span>
          Click one in the graph, or press <kbd>H</kbd> <kbd>J</kbd> <kbd>K</kbd> <kbd>L</kbd> to
          walk along its edges.
        </span>
      </div>
    );
  return (
    <>
      <NodeDetails slot={slot} />
      <Across />
    </>
  );
}
