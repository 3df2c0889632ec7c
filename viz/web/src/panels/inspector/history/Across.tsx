/** The history of the selected node across passes: from the user's line to the lines of sources. */
import { openNode } from "../../../state/actions";
import { count, places, plural, short } from "../../../state/format";
import { rewriteRows, rows, ruleName, step, view } from "../../../state/state";
import { ancestry } from "../../../data/rows";
import type { Artifact } from "../../../data/messages/kernel";
import type { Row } from "../../../data/messages/run";
import { walkButtons } from "../../../parts/walkButtons";
import { Places } from "../../../ui/code/Text";
import { kindName } from "../../../parts/kernel/columns";
import { userSource } from "../../../parts/kernel/kernel";
import { PYTHON } from "../../../parts/kernel/userText";
import { kernelName } from "../../../parts/kernel/passes";
import { showLines } from "../../../parts/kernel/show";
import {
  cancelHistory,
  history,
  historyError,
  linesOfHistory,
  readAgain,
  reading,
  selectedNode,
  waiting,
} from "./lineages";
import { foldHistory, standing, type FoldedRow } from "./folded";

const MOST = 200;

export function Across() {
  const h = history.value;
  const folded = h ? foldHistory(h.rows) : [];
  const line = h?.rows.find((r) => r.line)?.line ?? "";
  const order = (id: number): number => rewriteRows.value.get(id)?.row ?? -1;
  const here = standing(folded, view.value.rewrite ?? -1, step.value, order);
  return (
    <div class="sec" data-region="History across passes">
      <h3>
        History across passes
        <span class="sp" />
        {h && (
          <span class="num">
            {here >= 0 ? `${count(here + 1)} of ` : ""}
            {count(folded.length)}
          </span>
        )}
      </h3>
      <Progress />
      <ol class="hist across" aria-label="History across passes" onKeyDown={walkButtons}>
        {line && (
          <li>
            <Places all={places(line)} />
            <span class="t3">{line.includes("\n") ? "your lines" : "your line"}</span>
          </li>
        )}
        {folded.slice(0, MOST).map((f, i) => (
          <HistoryLine key={i} f={f} before={folded[i - 1]} on={i === here} />
        ))}
        {h?.kernels.map((k) => (
          <li key={k.scope}>
            <button type="button" class="link el" onClick={() => openNode(k.rewrite, 0, k.node)}>
              also in kernel <b>{short(nameOf(kernelOf(k.rewrite)))}</b>
            </button>
          </li>
        ))}
        <Lines />
      </ol>
      {folded.length > MOST && (
        <p class="t3">{count(folded.length - MOST)} later events not shown</p>
      )}
      {h?.truncated && <p class="cmov">◆ The history is cut: {h.truncated}.</p>}
      {h && !h.rows.length && <p class="t3">This part of the run was not recorded as passes.</p>}
    </div>
  );
}

function Progress() {
  const problem = historyError.value;
  if (problem)
    return (
      <p role="alert" class="t2">
        {problem.what}. {problem.hint}{" "}
        <button type="button" class="link" onClick={readAgain}>
          Try again
        </button>
      </p>
    );
  if (waiting.value)
    return (
      <p class="t2">
        Loading was cancelled.{" "}
        <button type="button" class="link" onClick={readAgain}>
          Continue
        </button>
      </p>
    );
  const now = reading.value;
  if (!now) return null;
  return (
    <p class="t2 row" role="status">
      Loading passes, {Math.floor(now.progress * 100)}%
      <button type="button" class="link" onClick={cancelHistory}>
        Cancel
      </button>
    </p>
  );
}

const kernelOf = (rewrite: number): Row | undefined => {
  const row = rewriteRows.value.get(rewrite);
  return row && ancestry(rows.value, row.row).find((r) => r.label === "kernel");
};

const nameOf = (kernel: Row | undefined): string => (kernel ? kernelName(kernel) : "?");

interface LineProps {
  f: FoldedRow;
  before: FoldedRow | undefined;
  on: boolean;
}

/** One event; the pass is named where it changes. */
function HistoryLine({ f: { row, rebuilds }, before, on }: LineProps) {
  const pass = rewriteRows.value.get(row.rewrite)?.name ?? "?";
  const newPass = before?.row.rewrite !== row.rewrite;
  const kernel = newPass ? kernelOf(row.rewrite) : undefined;
  const entered = kernel && kernel !== (before && kernelOf(before.row.rewrite));
  const own = row.node === selectedNode.value;
  return (
    <>
      {entered && (
        <li class="stage">
          <button type="button" class="link el" onClick={() => openNode(row.rewrite, 0, row.node)}>
            Kernel <b>{short(nameOf(kernel))}</b>
          </button>
        </li>
      )}
      <li class={on ? "on" : undefined} aria-current={on ? "step" : undefined}>
        <button
          type="button"
          class="link el"
          title={`u${row.node} ${row.op} in ${short(pass, 200)}, step ${count(row.step)}`}
          onClick={() => openNode(row.rewrite, row.step, row.node)}
        >
          <span class={own ? "mono b" : "mono"}>
            u{row.node} {row.op}
          </span>{" "}
          <Told row={row} rebuilds={rebuilds} />
        </button>
        <span class="t3 num el pass" title={`${short(pass, 200)}, step ${count(row.step)}`}>
          {newPass ? `${short(pass, 40)} ` : ""}
          {row.step > 0 ? count(row.step) : ""}
        </span>
      </li>
    </>
  );
}

function Told({ row, rebuilds }: { row: FoldedRow["row"]; rebuilds: number }) {
  switch (row.kind) {
    case "input":
      return <span class="t2">in the input graph</span>;
    case "became":
      return (
        <span class="t2">
          by <b>{ruleName(row.rule)}</b>
        </span>
      );
    case "created":
      return (
        <span class="t2">
          created by <b>{ruleName(row.rule)}</b>
        </span>
      );
    case "between":
      return (
        <span class="t2">{rebuilds > 1 ? plural(rebuilds, "rebuild") : "between passes"}</span>
      );
    case "rebuilt":
      return <span class="t2">{rebuilds > 1 ? plural(rebuilds, "rebuild") : "rebuilt"}</span>;
  }
}

/** The lines that were made of the node, per source. */
function Lines() {
  return (
    <>
      {linesOfHistory.value.map(({ artifact, lines }) => (
        <SourceLine key={artifact.kind + artifact.target} a={artifact} lines={lines} />
      ))}
    </>
  );
}

function SourceLine({ a, lines }: { a: Artifact; lines: readonly number[] }) {
  const numbers = a.kind === PYTHON ? userSource.value?.numbers : null;
  const first = lines.slice(0, 3).map((n) => numbers?.[n] || String(n + 1));
  const more = lines.length - first.length;
  const rest = more > 0 ? ` and ${plural(more, "more line")}` : "";
  return (
    <li>
      <button
        type="button"
        class="link el"
        title={`${kindName(a.kind)} ${first.join(", ")}${rest}`}
        onClick={() => showLines(a)}
      >
        <b>{kindName(a.kind)}</b> <span class="num">{first.join(", ")}</span>
        {rest}
      </button>
      <span class="t3 mono el pass">{short(a.target, 20)}</span>
    </li>
  );
}
