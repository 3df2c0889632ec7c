/** What a view could not get: what happened, where, what to do. */
import type { ApiProblem } from "../data/messages/job";

export function Failed({ problem, retry }: { problem: ApiProblem; retry: () => void }) {
  return (
    <div class="state" role="alert">
      <div class="h">{problem.what}</div>
      <div>{problem.hint}</div>
      <div class="mono">{problem.where}</div>
      <button type="button" class="btn" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
