/** The page of a kernel: what the trace says of it. Asks only while it is open. */
import { computed } from "@preact/signals";
import type { Peak } from "../../../data/messages/kernel";
import type { KernelPage } from "../../../data/messages/overview";
import { knowPeaks, peaks } from "../../../parts/peaks";
import { data } from "../../../state/actions";
import { kernelPage } from "../../../state/state";
import { Watched } from "../../../state/watched";

export const watchedKernel = new Watched<KernelPage>(
  "api/kernel-page",
  () => kernelPage.value !== null,
  async (abort) => {
    const [found] = await Promise.all([data().kernelPage(kernelPage.peek()!, abort), knowPeaks()]);
    return found;
  },
  undefined,
  () => String(kernelPage.value),
);

/** The page that the view names; null until it has arrived. */
export const page = computed(() =>
  watchedKernel.answer.value?.context === kernelPage.value ? watchedKernel.answer.value : null,
);

/** The peaks of the machine on which the run was recorded: of this one, or not known. */
export const peakOf = (of: KernelPage): Peak | undefined =>
  of.here ? peaks.value.get(of.device) : undefined;
