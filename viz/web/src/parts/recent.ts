/** Traces of the user's cache, youngest first, asked for anew as long as they are in view. */
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../data/backend";
import type { RecentTrace } from "../data/types";
import { data, reportProblem } from "../state/actions";
import { retryNow } from "../state/live";

const LOOK_AGAIN_MS = 3000;

/** None in an exported file. `open` goes on with one of them in place of this run. */
export function useRecent(): { traces: readonly RecentTrace[]; open: (name: string) => void } {
  const { server } = data();
  const [traces, setTraces] = useState<readonly RecentTrace[]>([]);
  const fail = (thrown: unknown): void => reportProblem(asProblem(thrown, "recent traces"));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const look = async (told: boolean): Promise<void> => {
      if (!server) return;
      try {
        if (!document.hidden) setTraces(await server.traces());
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
  }, []);
  const open = (name: string): void =>
    void server?.openTrace(name).then(() => retryNow(data()), fail);
  return { traces, open };
}
