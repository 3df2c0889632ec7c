/** Where the page is about one kernel; the workbench and the comparison have runs of their own. */
import { computed } from "@preact/signals";
import { BENCH, isOfPair } from "../../state/link/view";
import { kernelPage, view } from "../../state/state";

export const isShown = computed(() => {
  const { page } = view.value;
  if (page === BENCH || isOfPair(page)) return false;
  return page !== "overview" || kernelPage.value !== null;
});
