/** Names a slot as the reader knows it. */
import { opOf, uidOf } from "../model/content";
import { bundle, sides } from "../state/state";

/** "u124 MUL" of what the slot holds now, or held before the step. */
export function slotName(slot: number): string {
  const b = bundle.value;
  const both = sides.value;
  if (!b || !both) return `slot ${slot}`;
  const after = both.after.nodeOf(slot);
  const c = after >= 0 ? after : both.before.nodeOf(slot);
  return c >= 0 ? `${uidOf(b, c)} ${opOf(b, c)}` : `slot ${slot}`;
}
