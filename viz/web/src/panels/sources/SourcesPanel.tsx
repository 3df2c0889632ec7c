/**
 * The sources at the foot of the graphs, as wide as the window: one line each, or half of the room. Of a
 * pass that has a text of the compiler's own that text, with a way to the sources of its kernel.
 */
import { sourcesSize, toggleSources } from "../../parts/kernel/room";
import { PassTextCounts, PassTextPane } from "../../parts/passtext/PassTextPane";
import { besideGraphs, hasTexts } from "../../parts/passtext/store";
import { wideEdit } from "../../parts/run/edits";
import { KernelSources } from "../../parts/sources/KernelSources";
import { currentKernel, currentSchedule, view } from "../../state/state";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";

export function SourcesPanel() {
  const half = sourcesSize.value === "half";
  const size = wideEdit.value === null ? sourcesSize.value : "wide";
  // Under another page it only keeps its room, so that the graphs lie as they did.
  if (view.value.page !== "graphs") return <div class="sources" data-size={size} />;
  const edge = half && (
    <Divider
      part="foot"
      label="Height of the sources"
      class="top-edge"
      axis="y"
      grows={-1}
      min={140}
      max={1200}
    />
  );
  const hasSources = currentKernel.value !== null || currentSchedule.value !== null;
  if (hasTexts.value && (besideGraphs.value || !hasSources))
    return (
      <section class="sources" data-size={sourcesSize.value} data-region="Sources" aria-label="Sources">
        {edge}
        <div class="src-head">
          <h2>Compiler's text</h2>
          {half && <PassTextCounts />}
          <span class="sp" />
          {hasSources && <Other title="Sources" shows={false} />}
          <Size />
        </div>
        {half ? (
          <PassTextPane whole={false} />
        ) : (
          <div class="state">The program as the compiler printed it before and after this pass.</div>
        )}
      </section>
    );
  const tools = (
    <>
      {hasTexts.value && <Other title="Compiler's text" shows />}
      <Size />
    </>
  );
  return <KernelSources size={size} tools={tools} edge={edge} />;
}

/** Turns to the texts of the kernel, or to those of the pass. */
function Other({ title, shows }: { title: string; shows: boolean }) {
  return (
    <button type="button" class="btn sm quiet" onClick={() => (besideGraphs.value = shows)}>
      {title}
    </button>
  );
}

function Size() {
  const half = sourcesSize.value === "half";
  return (
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
  );
}
