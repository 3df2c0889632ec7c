/** Traces of the user's cache, youngest first; a click goes on with one of them. */
import { ago } from "../../parts/ago";
import { useRecent } from "../../parts/recent";
import { bytes, plural, short } from "../../state/format";

export function Recent() {
  const { traces, open } = useRecent();
  if (!traces.length) return null;
  return (
    <section class="card recent" aria-label="Recent traces">
      <h2>
        Recent traces <span class="t3">New traces appear here automatically.</span>
      </h2>
      <table>
        <tbody>
          {traces.map((t) => (
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
