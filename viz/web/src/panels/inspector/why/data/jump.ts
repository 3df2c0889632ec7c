/** Goes to a node of the pass, at the step nearest to another one where the graph has it. */
import { placeOfNode } from "../../../../model/slots";
import { announce, go } from "../../../../state/actions";
import { bundle, step, timeline } from "../../../../state/state";

/** Selects node `uid`; the tab and what is asked stay. */
export function goToNode(rewrite: number, uid: number, near = step.peek()): void {
  const t = timeline.peek();
  if (!t || bundle.peek()?.rewrite !== rewrite) return;
  const place = placeOfNode(t, uid, near);
  if (place) go({ slot: place.slot, step: place.step, uid: null });
  else announce(`u${uid} is in no graph of this pass`);
}
