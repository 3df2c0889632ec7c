/** Commands that move through steps, passes and kernels. */
import {
  canStep,
  goStep,
  nextMatch,
  nextRewrite,
  reloadBundle,
  stepBy,
} from "../../state/actions";
import { newSteps, stepCount } from "../../state/state";
import { marked, markStep, nextMark } from "../../parts/strip/marked";
import { type Command, hasPass, hasStep } from "../../parts/command";

export const stepCommands: readonly Command[] = [
  {
    id: "next",
    title: "Next step",
    group: "Steps",
    keys: ["ArrowRight"],
    when: () => canStep(1),
    run: () => stepBy(1),
  },
  {
    id: "prev",
    title: "Previous step",
    group: "Steps",
    keys: ["ArrowLeft"],
    when: () => canStep(-1),
    run: () => stepBy(-1),
  },
  {
    id: "first",
    title: "Input graph",
    group: "Steps",
    keys: [],
    when: hasPass,
    run: () => goStep(0),
  },
  {
    id: "last",
    title: "Last step",
    group: "Steps",
    keys: [],
    when: hasPass,
    run: () => goStep(stepCount.peek()),
  },
  {
    id: "match",
    title: "Next match of this rule, in any pass",
    group: "Steps",
    keys: ["N"],
    when: hasStep,
    run: () => nextMatch(1),
  },
  {
    id: "match-back",
    title: "Previous match of this rule, in any pass",
    group: "Steps",
    keys: ["Shift N"],
    when: hasStep,
    run: () => nextMatch(-1),
  },
  { id: "pass", title: "Next pass", group: "Steps", keys: ["]"], run: () => nextRewrite(1) },
  {
    id: "pass-back",
    title: "Previous pass",
    group: "Steps",
    keys: ["["],
    run: () => nextRewrite(-1),
  },
  { id: "mark", title: "Mark this step", group: "Steps", keys: ["B"], when: hasPass, run: markStep },
  {
    id: "next-mark",
    title: "Next marked step",
    words: "bookmark",
    group: "Steps",
    keys: [" "],
    when: () => marked.value.length > 0,
    run: nextMark,
  },
  {
    id: "new",
    title: "Show the new steps",
    group: "Steps",
    keys: [],
    when: () => newSteps.value > 0,
    run: reloadBundle,
  },
];
