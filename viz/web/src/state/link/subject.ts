/**
 * The subject: kernel, pass and step are one thing, which every page shows. The pass of the view says
 * the kernel; where a page or a link names another one, the pass follows.
 */
import { effect, untracked } from "@preact/signals";
import { firstPass, go } from "../actions";
import { currentKernel, kernelOfPass, namedKernel, rowsArrived, view } from "../state";

/** Lets the pass follow the kernel that is named. Call once. */
export function keepSubject(): void {
  effect(() => {
    const named = namedKernel.value;
    if (named === null || !rowsArrived.value || kernelOfPass.value?.id === named) return;
    const row = currentKernel.value;
    if (!row) return;
    untracked(() => {
      const pass = firstPass(row.row);
      if (pass !== view.peek().rewrite)
        go({ rewrite: pass, step: null, slot: null, uid: null, node: null }, "replace");
    });
  });
}
