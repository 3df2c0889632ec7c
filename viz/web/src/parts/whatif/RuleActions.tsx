/** Beside a rule: what the kernel is without it. */
import { short } from "../../state/format";
import { can } from "../../state/state";
import { isSkipped } from "./asked";
import { skipRule } from "./commands";
import { openVariants } from "./variants";
import { canTry, subject, whatIsNeeded } from "./store";

interface RuleActionsProps {
  rule: string;
  /** On a page that does not show the kernel itself. */
  onPage?: boolean;
}

export function RuleActions({ rule, onPage = false }: RuleActionsProps) {
  const ready = canTry();
  if (!can("what-if") || (!ready && !onPage)) return null;
  const of = short(subject.value?.name ?? "the kernel", 60);
  return (
    <>
      <button
        type="button"
        class="btn sm"
        aria-pressed={isSkipped(rule)}
        disabled={!ready}
        title={ready ? `Leave this rule out of the next variant of ${of}` : whatIsNeeded()}
        onClick={() => skipRule(rule)}
      >
        {onPage && ready ? `Leave out of ${of}` : "Leave out"}
      </button>
      {onPage && isSkipped(rule) && (
        <button
          type="button"
          class="btn sm"
          title={`Compile and run ${of} without it`}
          onClick={openVariants}
        >
          Go to the variants
        </button>
      )}
    </>
  );
}
