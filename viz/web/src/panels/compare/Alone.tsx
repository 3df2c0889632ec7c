/** The page while there is one run: what a comparison is for, and how to open a second run. */
import { ago } from "../../parts/traces/ago";
import { useRecent } from "../../parts/traces/recent";
import { allData } from "../../state/actions";
import { plural, short } from "../../state/format";
import { openRuns } from "../../state/state";
import { CopyButton } from "../../ui/code/copy";
import { compareWith } from "./overview/RunChooser";

const MOST = 8;

export function Alone() {
  const first = openRuns.value[0]?.file ?? "before.viz";
  const command = `uopviz open ${/^[\w.-]{1,80}$/.test(first) ? first : "before.viz"} after.viz`;
  return (
    <div class="cmp-alone">
      <h2 class="h">Compare two runs</h2>
      <p>
        Record a program before and after a change to the compiler, and see which kernels, rules and
        steps differ.{" "}
        {openRuns.value.length === 1 ? "One run is open; a second one is needed." : ""}
      </p>
      {allData().server ? (
        <>
          <div class="field cmd">
            <code class="sp el">{command}</code>
            <CopyButton text={command} what="Command" />
          </div>
          <Traces />
        </>
      ) : (
        <p>
          This file holds one run. Export two runs from the comparison to have both in one file.
        </p>
      )}
    </div>
  );
}

function Traces() {
  const open = new Set(openRuns.value.map((one) => one.file));
  const traces = useRecent().traces.filter((t) => !open.has(t.name));
  if (!traces.length) return null;
  return (
    <section class="card recent" aria-label="Recent traces">
      <h3>Or open a recent trace as run B</h3>
      <table>
        <tbody>
          {traces.slice(0, MOST).map((t) => (
            <tr key={t.name}>
              <td class="el" title={short(t.program || t.name, 500)}>
                <button type="button" class="link b" onClick={() => void compareWith("b", t.name)}>
                  {short(t.program || t.name, 60)}
                </button>
              </td>
              <td class="mono t2 el" title={t.name}>
                {short(t.name, 60)}
              </td>
              <td class="r t2">{plural(t.kernels, "kernel")}</td>
              <td class="r t2">{plural(t.steps, "step")}</td>
              <td class="r t3">{ago(t.started)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
