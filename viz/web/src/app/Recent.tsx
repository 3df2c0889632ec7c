/** Traces of the user's cache, youngest first; a click goes on with one of them. */
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../data/backend";
import type { RecentTrace } from "../data/types";
import { data, reportProblem } from "./actions";
import { ago } from "./ago";
import { bytes, plural, short } from "./format";
import { retryNow } from "./live";

export function Recent() {
  const { server } = data();
  const [listed, setListed] = useState<readonly RecentTrace[]>([]);
  const fail = (thrown: unknown): void => reportProblem(asProblem(thrown, "recent traces"));
  useEffect(() => {
    server?.traces().then(setListed, fail);
  }, []);
  if (!server || !listed.length) return null;
  const open = (name: string): void =>
    void server.openTrace(name).then(() => retryNow(data()), fail);
  return (
    <section class="card recent" aria-label="Recent traces">
      <h2>Recent traces</h2>
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
