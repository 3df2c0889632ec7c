/**
 * Traces of the user's cache, newest first; a click goes on with one of them. Looks for new ones
 * as long as it is in view.
 */
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../../data/backend";
import type { RecentTrace } from "../../data/types";
import { data, reportProblem } from "../../state/actions";
import { ago } from "./ago";
import { bytes, plural, short } from "../../state/format";
import { retryNow } from "../../state/live";

const LOOK_AGAIN_MS = 3000;

export function Recent() {
  const { server } = data();
  const [listed, setListed] = useState<readonly RecentTrace[]>([]);
  const fail = (thrown: unknown): void => reportProblem(asProblem(thrown, "recent traces"));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (told: boolean): Promise<void> => {
      if (!server) return;
      try {
        if (!document.hidden) setListed(await server.traces());
      } catch (thrown) {
        if (told) fail(thrown); // once: a server that has ended says so elsewhere
      }
      timer = setTimeout(() => void look(false), LOOK_AGAIN_MS);
    };
    void look(true);
    return () => clearTimeout(timer);
  }, []);
  if (!server || !listed.length) return null;
  const open = (name: string): void =>
    void server.openTrace(name).then(() => retryNow(data()), fail);
  return (
    <section class="card recent" aria-label="Recent traces">
      <h2>
        Recent traces <span class="t3">New traces appear here automatically.</span>
      </h2>
      <table>
        <tbody>
          {listed.map((t) => (
            <tr key={t.name}>
              <td class="el">
                <button type="button" class="link b" onClick={() => open(t.name)}>
                  {short(t.program || t.name, 60)}
                </button>
                {t.live && <span class="badge ac">live</span>}
              </td>
              <td class="mono t2 el">{short(t.name, 60)}</td>
              <td class="r t2">{plural(t.kernels, "kernel")}</td>
              <td class="r t2">{plural(t.steps, "step")}</td>
              <td class="r t2">{bytes(t.bytes)}</td>
              <td class="r t3">{ago(t.started)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
