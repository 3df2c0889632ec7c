/** Commands about checks: whether steps are right, and which one is wrong. */
import { canSearch, canSearchKernel, findInKernel, findInRun } from "../../parts/check/bisect";
import {
  cancelCheck,
  canCheck,
  check,
  checking,
  checkOpen,
  checkRule,
  nextDiffering,
  someDiffer,
} from "../../parts/check/checks";
import {
  canCheckScope,
  isOfRun,
  type Scope,
  scopes,
  subjectScopes,
} from "../../parts/check/scopes";
import type { Command } from "../../parts/command";
import { wordsOf } from "../../parts/search/rank";
import { short } from "../../state/format";
import { isOfPair } from "../../state/link/view";
import { currentKernel, rules, view } from "../../state/state";

/** Rules of the palette that a query finds. */
const MOST = 3;

/** The line of that title, if it can be checked now. */
function ready(title: string): Scope | undefined {
  return canCheck()
    ? scopes.value.find((one) => one.title === title && canCheckScope(one))
    : undefined;
}

function checkNow(title: string): void {
  const scope = ready(title);
  if (!scope) return;
  checkOpen.value = true;
  void check({ ...scope.what, again: scope.whole }, scope.name, scope.of);
}

export const checkCommands: readonly Command[] = [
  {
    id: "check",
    title: "Check: is it right?",
    words: "proved sampled differs verify",
    group: "Steps",
    keys: ["C"],
    when: () => subjectScopes.value.length > 0,
    run: () => (checkOpen.value = !checkOpen.peek()),
  },
  ...(["Step", "Pass", "Kernel", "Run"] as const).map((title): Command => ({
    id: `check-${title.toLowerCase()}`,
    title: `Check this ${title.toLowerCase()}`,
    group: "Steps",
    keys: [],
    when: () => ready(title) !== undefined,
    run: () => checkNow(title),
  })),
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
    pages: ["graphs"],
    keys: ["D"],
    when: () => someDiffer.value,
    run: () => nextDiffering(1),
  },
  {
    id: "differs-previous",
    title: "Previous step that differs",
    group: "Steps",
    pages: ["graphs"],
    keys: ["Shift D"],
    when: () => someDiffer.value,
    run: () => nextDiffering(-1),
  },
  {
    id: "bisect",
    needs: "bisect",
    title: "Which step of this kernel is wrong?",
    words: "bisect broke",
    group: "Steps",
    keys: [],
    when: () => canSearchKernel() && !isOfRun.value && !isOfPair(view.value.page),
    run: () => void findInKernel(currentKernel.peek()!.id),
  },
  {
    id: "bisect-run",
    needs: "bisect",
    title: "Which step of the run is wrong?",
    words: "bisect broke",
    group: "Steps",
    keys: [],
    when: () => canSearch() && !isOfPair(view.value.page),
    run: () => void findInRun(),
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
