/** The sources of the current kernel or schedule, or why there are none. */
import type { ComponentChildren } from "preact";
import { contextTitle, currentKernel, currentRow, currentSchedule, run } from "../../state/state";
import {
  compilable,
  isKnown,
  kernelArtifacts,
  kernelError,
  progress,
  retryKernel,
  scheduleTexts,
} from "../kernel/kernel";
import { kernelSources } from "./kernelModel";
import { type Size, SourcesView } from "./SourcesView";

interface KernelSourcesProps {
  size: Size;
  tools?: ComponentChildren;
  edge?: ComponentChildren;
}

export function KernelSources({ size, tools, edge }: KernelSourcesProps) {
  return (
    <SourcesView model={kernelSources} size={size} tools={tools} edge={edge}>
      {instead()}
    </SourcesView>
  );
}

function instead(): ComponentChildren {
  if (!currentKernel.value && !currentSchedule.value) {
    if (!currentRow.value)
      return <div class="state">No pass is shown, so there are no sources.</div>;
    if (run.value && run.value.totals.kernels === 0)
      return <div class="state">This run has no kernels, so there are no sources.</div>;
    return (
      <div class="state">
        <span>
          This pass belongs to no kernel and no schedule, so it has no sources. Press{" "}
          <kbd>{"}"}</kbd> to open the next kernel.
        </span>
      </div>
    );
  }
  const problem = kernelError.value;
  if (problem)
    return (
      <div class="state" role="alert">
        <b>{problem.what}</b>
        <span class="mono">{problem.where}</span>
        <span>{problem.hint}</span>
        <button type="button" class="btn sm" onClick={retryKernel}>
          Try again
        </button>
      </div>
    );
  if (!isKnown.value && !scheduleTexts.value)
    return (
      <div class="state">
        Loading the {contextTitle(currentKernel.value ? "kernel" : "schedule")}
      </div>
    );
  if (kernelSources.columns().length) return null;
  if (progress.value === "unfinished")
    return (
      <div class="state">
        <b>Compilation of this kernel did not finish.</b>
        <span>
          The run ended or failed before this kernel had a source. The passes recorded until then
          are in the navigator.
        </span>
      </div>
    );
  return <div class="state">{empty()}</div>;
}

function empty(): string {
  if (!currentKernel.value) return "No text of this schedule was recorded.";
  if (kernelArtifacts.value.length) return "No source is selected. Select one above.";
  return compilable.value.length
    ? "No source of this kernel was recorded. Select one above to compile it here."
    : "No source of this kernel was recorded, and it cannot be compiled here.";
}
