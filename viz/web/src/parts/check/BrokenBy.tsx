/** Where the result of a run differs from the reference: the way to the step that is to blame. */
import { canSearch, findInKernel, whyNoSearch } from "./bisect";

/** How it was run; a text of the user's own has no steps. */
interface How {
  device: string;
  opts: string | null;
}

/** `kernel`: the context that was run; `wide`: there is room for the whole question in any window. */
export function BrokenBy({ how, kernel, wide }: { how: How; kernel: number; wide?: boolean }) {
  if (whyNoSearch() !== null) return null;
  return (
    <button
      type="button"
      class="btn sm"
      aria-label="Which step is wrong?"
      title="Compiles the kernel again and runs its states, to find the step that made the result wrong"
      disabled={!canSearch()}
      onClick={() => void findInKernel(kernel, how)}
    >
      <span class={wide ? "" : "xwide"}>Which step is wrong?</span>
      {!wide && <span class="xnarrow">Which step?</span>}
    </button>
  );
}
