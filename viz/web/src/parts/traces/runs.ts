/** The runs that are open: showing another one, opening one more beside them, and closing one. */
import { asProblem, FIRST_RUN } from "../../data/backend";
import type { RunName } from "../../data/messages/run";
import {
  allData,
  announce,
  followLink,
  readAddress,
  reportProblem,
  switchWith,
} from "../../state/actions";
import { onClosed, refreshRuns, turnTo } from "../../state/live";
import { flushAddress, looking, pushAddress } from "../../state/link/address";
import { compareAt } from "../../state/link/links";
import { putRun } from "../../state/link/named";
import { hashOf } from "../../state/link/query";
import { isOfPair, type Page } from "../../state/link/view";
import { openRuns, runKey, runName, view } from "../../state/state";
import { whileOpening } from "./recent";

/** What was looked at on each page of each trace when it was left, as an address. */
const lookedAt = new Map<string, string>();
const pageOf = (page: Page): string => `${runKey.peek()} ${page}`;

/** Follows addresses of other runs from now on, and what becomes of the run that is shown. */
export function startRuns(): void {
  switchWith((name) => void turn(name, readAddress));
  onClosed((name) => {
    announce(`Run ${name} was closed`);
    void turn(FIRST_RUN, () => goTo(FIRST_RUN, "overview"));
  });
}

/** Shows a run that is open: the same page of it, as it was looked at before. */
export function showRun(name: string): void {
  if (name === runName.peek()) return;
  flushAddress();
  const { page } = view.peek();
  lookedAt.set(pageOf(page), location.hash);
  void turn(name, () => {
    goTo(name, isOfPair(page) ? "overview" : page);
    announce(`Run ${name} is shown`);
  });
}

/** Shows the run after this one; after the last one, the first. */
export function showNextRun(): void {
  const all = openRuns.peek();
  const at = all.findIndex((one) => one.name === runName.peek());
  const next = all[(at + 1) % all.length];
  if (next) showRun(next.name);
}

/** Opens a trace of the user's cache beside the run that is shown, and compares the two. */
export function openBeside(trace: string): Promise<void> {
  return whileOpening(trace, async () => {
    const name = await allData().server!.openRun(trace);
    await refreshRuns(allData());
    followLink(compareAt(runName.peek(), name));
    announce(`Opened as run ${name}`);
  });
}

/** Closes a run; where it is the one that is shown, the first one is shown from then on. */
export async function closeRun(name: string): Promise<void> {
  try {
    if (name === runName.peek()) await turn(FIRST_RUN, () => goTo(FIRST_RUN, "overview"));
    await allData().server!.closeRun(name);
    await refreshRuns(allData());
    announce(`Run ${name} is closed`);
  } catch (thrown) {
    reportProblem(asProblem(thrown, `run ${name}`));
  }
}

/** Whether the run can be closed here. */
export const canClose = (run: RunName): boolean =>
  run.name !== FIRST_RUN && allData().server !== null;

/** The address of what is looked at in a run that is shown now. */
function goTo(name: string, page: Page): void {
  const first = hashOf((put) => {
    putRun(name, put);
    put("v", page !== "overview" && page);
  });
  const hash = lookedAt.get(pageOf(page)) ?? first;
  pushAddress(hash || location.pathname + location.search, looking());
  readAddress();
}

async function turn(name: string, arrived: () => void): Promise<void> {
  try {
    await turnTo(allData(), name, arrived);
  } catch (thrown) {
    const problem = asProblem(thrown, `run ${name}`);
    reportProblem(problem);
    announce(`Not shown: ${problem.what}. ${problem.hint}`);
  }
}
