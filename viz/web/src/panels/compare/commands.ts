/** Commands of the comparison. */
import type { Command } from "../../parts/command";
import { kindName, kindOf, targetOf, usualColumns } from "../../parts/kernel/columns";
import { announce } from "../../state/actions";
import { keyOfScope, scope } from "./data/store";
import { possible, shown, toggle } from "./data/texts";
import {
  firstDifferingRow,
  goRow,
  goState,
  inStep,
  passes,
  row,
  states,
  walkThrough,
} from "./data/walk";
import { compareLink, compareRuns, show, TABS } from "./data/link";
import { listed } from "./overview/Kernels";
import { nextDifferenceOfText } from "./source/Sources";
import { stage } from "./data/mount";
import { difference } from "./walk/Strip";

const walking = (): boolean => compareLink.value.walk !== null;
const onOverview = (): boolean => !walking();
const onKernels = (): boolean => onOverview() && compareLink.value.tab === "kernels";
const walks = (): boolean => walking() && passes.value !== null;

const hasDifferences = (): boolean => onKernels() || walks();
const hasTexts = (): boolean => onKernels() || (walking() && compareLink.value.text);

const command = (
  id: string,
  title: string,
  keys: Command["keys"],
  when: () => boolean,
  run: () => void,
): Command => ({ id: `cmp-${id}`, title, group: "Compare", keys, when, run });

export const compareCommands: readonly Command[] = [
  command("swap", "Swap A and B", [], onOverview, () => {
    const { a, b } = compareLink.peek();
    compareRuns(b, a);
  }),
  command(
    "all",
    "All, or only what differs",
    ["A"],
    () => onOverview() || walks(),
    () => {
      const { all, whole } = compareLink.peek();
      show(walking() ? { whole: !whole } : { all: !all }, "replace");
    },
  ),
  command("tab", "Next tab of the comparison", [], onOverview, () => nextTab(1)),
  command("tab-back", "Previous tab of the comparison", [], onOverview, () => nextTab(-1)),
  command("kernel", "Next kernel of the comparison", ["}"], onKernels, () => nextScope(1)),
  command("kernel-back", "Previous kernel of the comparison", ["{"], onKernels, () =>
    nextScope(-1),
  ),
  command("go", "Go to the first step that differs", ["Enter"], onKernels, () => {
    const first = scope.peek()?.first;
    if (first) walkThrough(first.a, first.b, firstDifferingRow.peek());
    else announce("No step of this kernel differs");
  }),
  command("unified", "Show the texts side by side, or in one column", [], hasTexts, () =>
    show({ unified: !compareLink.peek().unified, sources: null }, "replace"),
  ),
  command("next", "Next row", ["ArrowRight"], walks, () =>
    inStep.peek() ? goRow(row.peek() + 1) : goState("b", states.peek()[1] + 1),
  ),
  command("back", "Previous row", ["ArrowLeft"], walks, () =>
    inStep.peek() ? goRow(row.peek() - 1) : goState("b", states.peek()[1] - 1),
  ),
  command("a-next", "A alone: next step", [], walks, () => goState("a", states.peek()[0] + 1)),
  command("a-back", "A alone: previous step", [], walks, () => goState("a", states.peek()[0] - 1)),
  command("b-next", "B alone: next step", [], walks, () => goState("b", states.peek()[1] + 1)),
  command("b-back", "B alone: previous step", [], walks, () => goState("b", states.peek()[1] - 1)),
  command(
    "in-step",
    "Both sides in step again",
    [],
    () => walks() && !inStep.value,
    () => goRow(row.peek()),
  ),
  command("first", "Input graphs of both", [], walks, () => goRow(0)),
  command("last", "Last row", [], walks, () => goRow(passes.peek()!.rows.count)),
  command("difference", "Next difference: row, or lines of the texts", ["D"], hasDifferences, () =>
    toDifference(1),
  ),
  command(
    "difference-back",
    "Previous difference: row, or lines of the texts",
    ["Shift D"],
    hasDifferences,
    () => toDifference(-1),
  ),
  command("merged", "Both graphs in one picture, or side by side", ["M"], walks, () =>
    show({ merged: !compareLink.peek().merged }, "replace"),
  ),
  command("text", "Show or hide the text of the kernel", ["S"], walking, () =>
    show({ text: !compareLink.peek().text }, "replace"),
  ),
  command("fit", "Fit both graphs", ["0"], walks, () => stage.peek()?.fit()),
  command("in", "Zoom in on both graphs", [], walks, () => stage.peek()?.zoomBy(1.25)),
  command("out", "Zoom out of both graphs", [], walks, () => stage.peek()?.zoomBy(0.8)),
  command("left", "Select the node on the left, in both graphs", ["H"], walks, () =>
    stage.peek()?.walk("h"),
  ),
  command("down", "Select a user of the node, in both graphs", ["J"], walks, () =>
    stage.peek()?.walk("j"),
  ),
  command("up", "Select a source of the node, in both graphs", ["K"], walks, () =>
    stage.peek()?.walk("k"),
  ),
  command("right", "Select the node on the right, in both graphs", ["L"], walks, () =>
    stage.peek()?.walk("l"),
  ),
  command("overview", "Back to the comparison", [], walking, leave),
];

/** Of what people ask for by name; other targets have chips above the texts. */
export function compileCommands(): Command[] {
  return usualColumns().map((key) => ({
    ...command(
      `compile-${kindOf(key)}`,
      `Compile for ${targetOf(key)} (${kindName(kindOf(key))})`,
      [],
      () => hasTexts() && possible.value.includes(key) && !shown.value.includes(key),
      () => toggle(key),
    ),
    words: "source text target compare both runs NVIDIA AMD assembly",
  }));
}

function toDifference(way: 1 | -1): void {
  if (walking()) difference(way);
  else if (!nextDifferenceOfText(way)) announce("No text that is shown differs");
}

function nextTab(way: 1 | -1): void {
  const at = TABS.indexOf(compareLink.peek().tab);
  show({ tab: TABS[(at + way + TABS.length) % TABS.length]! }, "replace");
}

function nextScope(way: 1 | -1): void {
  const all = listed.peek();
  const now = scope.peek();
  const at = all.findIndex((s) => now !== null && keyOfScope(s) === keyOfScope(now));
  const next = all[at + way];
  if (next) show({ scope: keyOfScope(next), sources: null }, "replace");
  else announce(way > 0 ? "This is the last kernel" : "This is the first kernel");
}

/** From the walk to the overview of the pair. */
export function leave(): void {
  show({ walk: null, row: null, states: null, slot: null });
}
