/** What went wrong in the run, and what the page itself met: what, where, what to do. */
import { openRewrite } from "../../state/actions";
import { count } from "../../state/format";
import { overlay, ownProblems, rewriteRows, run } from "../../state/state";
import { Clipped } from "../../ui/code/Text";
import { copyText } from "../../ui/code/copy";
import { Sheet } from "../../ui/over/Sheet";

export function Problems() {
  return (
    <Sheet label="Problems">
      <Table />
    </Sheet>
  );
}

function Table() {
  const recorded = run.value?.problems ?? [];
  const own = ownProblems.value;
  if (!recorded.length && !own.length)
    return <div class="state">No problems: all passes of this run completed.</div>;
  const all = [
    ...recorded,
    ...own.map((p) => ({ ...p, rewrite: null as number | null, step: null as number | null })),
  ];
  const text = all.map((p) => `${p.what}\n  at   ${p.where}\n  hint: ${p.hint}`).join("\n\n");
  return (
    <div class="pane">
      <table class="problems">
        <thead>
          <tr>
            <th>What</th>
            <th>Where</th>
            <th class="r">Step</th>
            <th>
              <span class="row">
                What to do
                <span class="sp" />
                <button
                  type="button"
                  class="btn sm quiet"
                  onClick={() => void copyText(text, "All problems")}
                >
                  Copy all
                </button>
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((p, i) => (
            <tr key={i}>
              <td>
                <span class="row start">
                  <span class="sig del">!</span>
                  {p.rewrite !== null && rewriteRows.value.has(p.rewrite) ? (
                    <button
                      type="button"
                      class="link"
                      onClick={() => {
                        overlay.value = null;
                        openRewrite(p.rewrite!, p.step);
                      }}
                    >
                      <Clipped text={p.what} limit={200} />
                    </button>
                  ) : (
                    <Clipped text={p.what} limit={200} />
                  )}
                </span>
              </td>
              <td class="mono">
                <Clipped text={p.where} limit={160} />
              </td>
              <td class="r">{p.step === null ? "" : count(p.step)}</td>
              <td class="t2">
                <Clipped text={p.hint} limit={240} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
