/** Commands about kernels compiled otherwise; those of replays are on every page. */
import { announce } from "../../state/actions";
import { currentRule, currentStep, step } from "../../state/state";
import { type Command, live } from "../command";
import { change, changesSomething, clear, isSkipped, passHere, toggleSkip } from "./asked";
import { closeNotice, notice } from "./changed";
import {
  cancelJob,
  canReplayAll,
  canTry,
  chosen,
  compareVariants,
  isRunning,
  replay,
  tryVariant,
  variants,
} from "./store";
import { openVariants } from "./variants";

const group = "Rule and node";

const hasRule = (): boolean => canTry() && currentStep.value !== null && currentRule.value !== null;

/** Leaves the rule of the step out, and says so. */
export function skipRule(rule: string, inside: string | null = null): void {
  toggleSkip(rule, inside);
  const where = inside ? ` in ${inside}` : "";
  announce(isSkipped(rule) ? `${rule} is left out${where}` : `${rule} is not left out any more`);
}

/** Lets nothing match after this step. */
export function stopHere(): void {
  change({ stop_after: step.peek(), inside: passHere.peek() });
  announce(`Nothing matches after step ${step.peek()} of ${passHere.peek()}`);
}

const newest = (): number | null => variants.value?.findLast((row) => !row.error)?.number ?? null;

export const variantCommands: readonly Command[] = [
  {
    id: "variants",
    needs: "what-if",
    title: "Variants of the kernel: what if",
    group,
    keys: [],
    when: live,
    run: openVariants,
  },
  {
    id: "variant-skip",
    needs: "what-if",
    title: "Leave this rule out of the next variant",
    group,
    keys: [],
    when: hasRule,
    run: () => currentRule.peek() && skipRule(currentRule.peek()!.name),
  },
  {
    id: "variant-skip-here",
    needs: "what-if",
    title: "Leave this rule out of the next variant, in passes of this name only",
    group,
    keys: [],
    when: () => hasRule() && passHere.value !== "",
    run: () => currentRule.peek() && skipRule(currentRule.peek()!.name, passHere.peek()),
  },
  {
    id: "variant-stop",
    needs: "what-if",
    title: "Stop after this step in the next variant",
    group,
    keys: [],
    when: () => canTry() && currentStep.value !== null && passHere.value !== "",
    run: stopHere,
  },
  {
    id: "variant-try",
    needs: "what-if",
    title: "Compile and run the variant",
    group,
    keys: [],
    when: () => canTry() && !isRunning(),
    run: () => void tryVariant(),
  },
  {
    id: "variant-clear",
    needs: "what-if",
    title: "Change nothing in the next variant",
    group,
    keys: [],
    when: () => changesSomething.value,
    run: clear,
  },
  {
    id: "variant-compare",
    needs: "what-if",
    title: "Compare the newest variant, or the two that are chosen",
    group,
    keys: [],
    when: () => newest() !== null,
    run: () =>
      void compareVariants(...(chosen.peek().length ? chosen.peek() : [newest()!])),
  },
];

export const replayCommands: readonly Command[] = [
  {
    id: "replay",
    needs: "what-if",
    title: "Replay this kernel with the code on disk",
    group: "Page",
    keys: [],
    when: () => canTry() && !isRunning(),
    run: () => void replay(false),
  },
  {
    id: "replay-all",
    needs: "what-if",
    title: "Replay all kernels with the code on disk",
    group: "Page",
    keys: [],
    when: () => canReplayAll() && !isRunning(),
    run: () => void replay(true),
  },
  {
    id: "what-if-cancel",
    needs: "what-if",
    title: "Cancel the variant or replay",
    group: "Page",
    keys: [],
    when: isRunning,
    run: () => void cancelJob(),
  },
  {
    id: "changed-close",
    needs: "what-if",
    title: "Close the notice about changed rules",
    group: "Page",
    keys: [],
    when: () => notice.value !== null,
    run: closeNotice,
  },
];
