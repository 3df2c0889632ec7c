/** The sources of a kernel as tabs, one for each kind of text and target. */
import { signal } from "@preact/signals";
import {
  kernel,
  kernelArtifacts,
  kernelError,
  retryKernel,
  shownColumns,
} from "../../../parts/kernel/kernel";
import { onTabs } from "../../../parts/arrows";
import { columnKey, kindName, kindOf, targetOf } from "../../../parts/kernel/columns";
import { Chooser } from "../../../parts/source/Chooser";
import { Column } from "../../../parts/source/Column";
import { Failed } from "../../../parts/Failed";
import { TabText } from "../../../ui/TabText";

const chosen = signal<string | null>(null);

export function SourceTabs() {
  const problem = kernelError.value;
  const byKey = new Map(kernelArtifacts.value.map((a) => [columnKey(a), a]));
  const keys = shownColumns.value;
  const open = keys.find((key) => key === chosen.value) ?? keys[0];
  return (
    <section class="ov-sec kp-source" data-region="Sources" aria-label="Sources">
      <div class="ov-h kp-tabs">
        <div class="tabs" role="tablist" aria-label="Sources" onKeyDown={onTabs}>
          {keys.map((key) => (
            <button
              type="button"
              class="tab"
              role="tab"
              key={key}
              aria-selected={key === open}
              tabIndex={key === open ? 0 : -1}
              onClick={() => (chosen.value = key)}
            >
              <TabText text={kindName(kindOf(key))} />
              <span class="t3 mono">{targetOf(key)}</span>
            </button>
          ))}
        </div>
        <span class="sp" />
        <Chooser />
      </div>
      {problem ? (
        <Failed problem={problem} retry={retryKernel} />
      ) : open ? (
        <Column key={open} id={open} artifact={byKey.get(open)} />
      ) : (
        <div class="state">
          {kernel.value ? "No source of this kernel was recorded." : "Loading the sources"}
        </div>
      )}
    </section>
  );
}
