/** A kernel on the workbench: what is changed, its text, and what that does to time and outputs. */
import { short } from "../../state/format";
import { currentKernel, rows } from "../../state/state";
import { Failed } from "../../parts/Failed";
import { kernel, kernelError, retryKernel } from "../../parts/kernel/kernel";
import { Devices } from "./change/Devices";
import { data } from "../../state/actions";
import { HeldOpts } from "./change/HeldOpts";
import { Opts } from "./change/Opts";
import { Variants } from "./change/Variants";
import { Head } from "./Head";
import { Compared } from "./result/Compared";
import { Outputs } from "./result/Outputs";
import { Roofline } from "./result/Roofline";
import { Time } from "./result/Time";
import { VariantsPanel } from "./VariantsPanel";
import { TextCard } from "./text/TextCard";

export function WorkbenchView() {
  const problem = kernelError.value;
  return (
    <main class="wb" aria-label="Workbench">
      <Head />
      {problem && !kernel.value ? (
        <Failed problem={problem} retry={retryKernel} />
      ) : currentKernel.value === null && rows.value.length ? (
        <div class="state">
          <b>This run compiled no kernel.</b>
          <span>The workbench shows one kernel at a time.</span>
        </div>
      ) : !kernel.value ? (
        <div class="state" role="status">
          Loading {short(currentKernel.value?.name ?? "the kernel")}
        </div>
      ) : (
        <div class="wb-grid">
          <div class="wb-side" data-region="Changes">
            {data().server ? <Opts /> : <HeldOpts />}
            <Devices />
            <Variants />
          </div>
          <TextCard />
          <div class="wb-side" data-region="Results">
            <Time />
            <Compared />
            <Outputs />
            <Roofline />
          </div>
        </div>
      )}
      {data().server && <VariantsPanel />}
    </main>
  );
}
