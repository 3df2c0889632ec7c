/** Where the line that is looked at comes from: the lines of the program, and the nodes in the graphs. */
import { nodesBehind, showNodes } from "../../../parts/sources/behind";
import { kernelSources } from "../../../parts/sources/kernelModel";
import { OneLine } from "../../../parts/sources/Strip";
import { columnKey } from "../../../parts/kernel/columns";
import { userSource } from "../../../parts/kernel/kernel";
import { emulation } from "../../../parts/emulation/store";
import { plural } from "../../../state/format";
import { isComing, origin } from "./origin";

export function Origin() {
  const at = origin.value;
  const own = userSource.value?.artifact;
  const nodes = at ? nodesBehind(at) : 0;
  return (
    <div class="origin strip" role="group" aria-label="Where the line comes from">
      {at && own ? (
        <OneLine model={kernelSources} id={columnKey(own)} />
      ) : (
        <span class="t3 el">{isComing.value ? "Compiling the text for the links of its lines" : whyNone()}</span>
      )}
      {at && nodes > 0 && (
        <button
          type="button"
          class="link num nw"
          title="Show the last pass that has such a node, with the node selected"
          onClick={() => void showNodes(at)}
        >
          {plural(nodes, "node")}: show in Graphs
        </button>
      )}
    </div>
  );
}

/** Why nothing is known of where the line comes from. */
function whyNone(): string {
  const of = emulation.value;
  if (of?.source != null) return "Lines of an edited text have no links";
  if (of?.opts != null) return "Lines of a kernel with other optimizations have no links";
  return origin.value ? "No line of the program was recorded" : "Nothing is known of where this line comes from";
}
