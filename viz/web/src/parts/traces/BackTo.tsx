/** Back to the trace that was open before this one. */
import { short } from "../../state/format";
import { openFormer } from "./recent";

/** `former`: the name of its file; nothing is shown for null. */
export function BackTo({ former }: { former: string | null }) {
  if (former === null) return null;
  return (
    <button type="button" class="btn sm" title={former} onClick={() => void openFormer(former)}>
      Back to {short(former, 40)}
    </button>
  );
}
