/** Traces of the user's cache, youngest first; a click goes on with one of them. The one that was
 * open before has a button of its own: it need not be in the cache. */
import { ago } from "../../parts/traces/ago";
import { BackTo } from "../../parts/traces/BackTo";
import { openRecent, useRecent } from "../../parts/traces/recent";
import { bytes, plural, short } from "../../state/format";

export function Recent() {
  const { traces, former } = useRecent();
  if (!traces.length && former === null) return null;
  return (
    <section class="card recent" aria-label="Recent traces">
      <h2>
        Recent traces <span class="t3">New traces appear here automatically.</span>
        <BackTo former={former} />
      </h2>
      <table>
        <tbody>
          {traces.map((t) => (
            <tr key={t.name}>
              <td class="el" title={short(t.program || t.name, 500)}>
                {t.open ? (
                  <b>{short(t.program || t.name, 60)}</b>
                ) : (
                  <button type="button" class="link b" onClick={() => void openRecent(t.name)}>
                    {short(t.program || t.name, 60)}
                  </button>
                )}
                {t.open && <span class="badge">open</span>}
                {t.live && <span class="badge ac">live</span>}
              </td>
              <td class="mono t2 el" title={t.name}>
                {short(t.name, 60)}
              </td>
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
