/** Whom the panel asks: each of the two runs, and the pair. */
import type { PairQuestions, RunData } from "../../../data/backend";
import { allData } from "../../../state/actions";
import { openRuns } from "../../../state/state";
import { compareLink } from "./link";

export type Side = "a" | "b";

export const runData = (side: Side): RunData => allData().of(compareLink.peek()[side]);

export const pairData = (): PairQuestions => {
  const { a, b } = compareLink.peek();
  return allData().compare(a, b);
};

/** Whether both runs of the link are open. */
export function isPairOpen(): boolean {
  const { a, b } = compareLink.value;
  const open = (name: string): boolean => openRuns.value.some((one) => one.name === name);
  return open(a) && open(b);
}
