/** Commands about checks: whether steps are right, and which one broke a kernel. */
import { canSearch, findWrongStep } from "../../../parts/check/bisect";
import {
  cancelCheck,
  canCheck,
  canCheckPass,
  checking,
  checkKernel,
  checkPass,
  checkRule,
  checkRun,
  nextDiffering,
  someDiffer,
} from "../../../parts/check/checks";
import { type Command, hasPass } from "../../../parts/command";
import { wordsOf } from "../../../parts/search/rank";
import { short } from "../../../state/format";
import { currentKernel, rules } from "../../../state/state";

/** Rules of the palette that a query finds. */
const MOST = 3;

export const checkCommands: readonly Command[] = [
  {
    id: "check-pass",
    title: "Check whether the steps of this pass are right",
    group: "Steps",
    keys: ["C"],
    when: () => hasPass() && canCheckPass(),
    run: checkPass,
  },
  {
    id: "check-kernel",
    title: "Check this kernel",
    group: "Steps",
    keys: [],
    when: () => currentKernel.value !== null && canCheck(),
    run: checkKernel,
  },
  {
    id: "check-run",
    title: "Check the whole run",
    group: "Steps",
    keys: [],
    when: canCheck,
    run: checkRun,
  },
  {
    id: "check-cancel",
    title: "Cancel the check",
    group: "Steps",
    keys: [],
    when: () => checking.value !== null,
    run: () => void cancelCheck(),
  },
  {
    id: "differs-next",
    title: "Next step that differs",
    group: "Steps",
    keys: ["D"],
    when: () => someDiffer.value,
    run: () => nextDiffering(1),
  },
  {
    id: "differs-previous",
    title: "Previous step that differs",
    group: "Steps",
    keys: ["Shift D"],
    when: () => someDiffer.value,
    run: () => nextDiffering(-1),
  },
  {
    id: "bisect",
    title: "Which step broke this kernel?",
    group: "Steps",
    keys: [],
    when: canSearch,
    run: () => void findWrongStep(currentKernel.peek()!.id),
  },
];

/** For the palette: the steps of each rule that the query names. */
export function checkRuleCommands(query: string): readonly Command[] {
  const words = wordsOf(query);
  if (!words.length || !canCheck()) return [];
  const named = [...rules.value.values()].filter((rule) =>
    words.some((word) => rule.name.toLowerCase().includes(word)),
  );
  return named.slice(0, MOST).map((rule) => ({
    ...{ id: `check-rule-${rule.id}`, title: `Check all steps of ${short(rule.name, 60)}` },
    ...{ group: "Steps", keys: [] },
    run: () => checkRule(rule.id, rule.name),
  }));
}
