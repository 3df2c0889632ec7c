/** Where the result of a run differs from the reference: the way to the step that is to blame. */
import type { RunResult } from "../../data/messages/kernel";
import { canSearch, findWrongStep, whyNoSearch } from "./bisect";

/** `kernel`: the context that was run. Nothing where the result is right, or is that of a text of the
 * user's own. */
export function BrokenBy({ r, kernel }: { r: RunResult; kernel: number }) {
  if (r.equal !== false || r.source !== null || whyNoSearch() !== null) return null;
  return (
    <button
      type="button"
      class="btn sm"
      aria-label="Which step broke it?"
      title="Compiles the kernel again and runs its states, to find the step that made the result wrong (B)"
      disabled={!canSearch()}
      onClick={() => void findWrongStep(kernel, { opts: r.opts, device: r.device })}
    >
      <span class="xwide">Which step broke it?</span>
      <span class="xnarrow">Which step?</span>
    </button>
  );
}
