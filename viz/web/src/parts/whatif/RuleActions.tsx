/** Beside a rule: what the kernel is without it. */
import { setPage } from "../../state/actions";
import { openDrawer } from "../../state/drawer";
import { short } from "../../state/format";
import { step } from "../../state/state";
import { isSkipped, passHere } from "./asked";
import { skipRule, stopHere } from "./commands";
import { canTry, subject, whatIsNeeded } from "./store";

interface RuleActionsProps {
  rule: string;
  /** The rule is that of the current step. */
  atStep?: boolean;
  /** On a page without the drawer that has the variants. */
  onPage?: boolean;
}

export function RuleActions({ rule, atStep = false, onPage = false }: RuleActionsProps) {
  const can = canTry();
  if (!can && !onPage) return null;
  const key = atStep ? " (Shift X)" : "";
  const of = short(subject.value?.name ?? "the kernel", 60);
  return (
    <>
      <button
        type="button"
        class="btn sm"
        aria-pressed={isSkipped(rule)}
        disabled={!can}
        title={can ? `Leave this rule out of the next variant of ${of}${key}` : whatIsNeeded()}
        onClick={() => skipRule(rule)}
      >
        {onPage && can ? `Leave out of ${of}` : "Leave out"}
      </button>
      {onPage && isSkipped(rule) && (
        <button
          type="button"
          class="btn sm"
          title={`Compile and run ${of} without it`}
          onClick={() => {
            setPage("graphs");
            openDrawer("variants");
          }}
        >
          Go to the variants
        </button>
      )}
      {atStep && passHere.value !== "" && (
        <>
          <button
            type="button"
            class="btn sm"
            title={`Leave this rule out in ${passHere.value} only`}
            onClick={() => skipRule(rule, passHere.peek())}
          >
            Leave out in this pass
          </button>
          <button
            type="button"
            class="btn sm"
            title={`Let nothing match after step ${step.value} of ${passHere.value}`}
            onClick={stopHere}
          >
            Stop after this step
          </button>
        </>
      )}
    </>
  );
}
