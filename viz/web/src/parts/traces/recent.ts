/** Traces of the user's cache, youngest first, and going on with one of them. */
import { batch } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../../data/backend";
import type { RecentTraces } from "../../data/messages/run";
import { allData, announce, data, go, reportProblem } from "../../state/actions";
import { refreshNow, refreshRuns } from "../../state/live";
import { FIRST_VIEW } from "../../state/link/view";
import { opening, otherLink } from "../../state/state";

const LOOK_AGAIN_MS = 3000;
const NONE: RecentTraces = { open: "", former: null, traces: [] };

const fail = (thrown: unknown): void => reportProblem(asProblem(thrown, "recent traces"));

/** Asked for anew as long as they are in view. None in an exported file. */
export function useRecent(): RecentTraces {
  const { server } = data();
  const [recent, setRecent] = useState(NONE);
  const working = opening.value;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const look = async (told: boolean): Promise<void> => {
      if (!server) return;
      try {
        if (!document.hidden) {
          const found = await server.traces();
          if (!ended) setRecent(found);
        }
      } catch (thrown) {
        if (told) fail(thrown); // once: a server that has ended says so elsewhere
      }
      if (!ended) timer = setTimeout(() => void look(false), LOOK_AGAIN_MS);
    };
    void look(true);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [working]); // and at once when another one is open
  return recent;
}

/** Goes on with a trace of the list in place of this run: at its first page, or at what a link
 * says that was opened here and is of that trace. */
export const openRecent = (name: string): Promise<void> =>
  goOnWith(name, () => data().server!.openTrace(name));

/** Goes back to the trace that was open before. */
export const openFormer = (name: string): Promise<void> =>
  goOnWith(name, () => data().server!.openFormer());

/** Goes on with the trace that was recorded in the place of the one that is open. */
export const openAgain = (name: string): Promise<void> =>
  goOnWith(name, () => data().server!.openAgain());

function goOnWith(name: string, tell: () => Promise<void>): Promise<void> {
  return whileOpening(name, async () => {
    await tell();
    if (otherLink.peek()?.name !== name)
      batch(() => {
        go(FIRST_VIEW, "push");
        otherLink.value = null;
      });
    await refreshNow(allData());
    await refreshRuns(allData());
  });
}

/** Does what opens a trace, and says how long it takes, or why it failed. One after the other. */
export async function whileOpening(name: string, open: () => Promise<void>): Promise<void> {
  if (opening.peek()) return;
  opening.value = { name, since: Date.now() };
  try {
    await open();
  } catch (thrown) {
    const problem = asProblem(thrown, name);
    reportProblem(problem);
    announce(`Not opened: ${problem.what}. ${problem.hint}`);
  } finally {
    opening.value = null;
  }
}
