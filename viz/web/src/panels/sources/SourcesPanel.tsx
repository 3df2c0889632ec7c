/** The sources at the foot of the graphs, as wide as the window: one line each, or half of the room. */
import { sourcesSize, toggleSources } from "../../parts/kernel/room";
import { wideEdit } from "../../parts/source/edits";
import { KernelSources } from "../../parts/sources/KernelSources";
import { view } from "../../state/state";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";

export function SourcesPanel() {
  const half = sourcesSize.value === "half";
  const size = wideEdit.value === null ? sourcesSize.value : "wide";
  // Under another page it only keeps its room, so that the graphs lie as they did.
  if (view.value.page !== "graphs") return <div class="sources" data-size={size} />;
  return (
    <KernelSources
      size={size}
      tools={
        <button
          type="button"
          class="btn sm quiet"
          aria-expanded={half}
          title={`${half ? "One line per source" : "Half of the room for the sources"} (S)`}
          onClick={toggleSources}
        >
          <span class={half ? "" : "flip"}>
            <Icon name="down" />
          </span>
          {half ? "Strip" : "Half"} <kbd>S</kbd>
        </button>
      }
      edge={
        half && (
          <Divider
            part="foot"
            label="Height of the sources"
            class="top-edge"
            axis="y"
            grows={-1}
            min={140}
            max={1200}
          />
        )
      }
    />
  );
}
