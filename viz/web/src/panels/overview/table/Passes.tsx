/** The passes that changed something, in order: what there is of a run without kernels. */
import { useState } from "preact/hooks";
import { onArrows } from "../../../parts/arrows";
import { Go } from "../../../parts/Go";
import { millis, plural, short, count } from "../../../state/format";
import { passAt, pageAt } from "../../../state/link/links";
import { rows, run } from "../../../state/state";
import type { Row } from "../../../data/messages/run";

/** Passes that are listed before "more" is asked for, and at most. */
const FEW = 20;
const MOST = 500;

export function Passes() {
  const [all, setAll] = useState(false);
  const changed = rows.value.filter((row) => row.kind === "rewrite" && row.steps > 0);
  const unchanged = (run.value?.totals.rewrites ?? 0) - changed.length;
  const shown = changed.slice(0, all ? MOST : FEW);
  return (
    <section class="ov-sec ov-list" data-region="Passes" aria-label="Passes">
      <div class="ov-h">
        <h3>Passes</h3>
        <span class="t3 el">
          that changed something, in order
          {unchanged > 0 && `; ${count(unchanged)} changed nothing`}
        </span>
        <span class="sp" />
        <Go to={pageAt("graphs")}>Open the first</Go>
      </div>
      <div onKeyDown={onArrows}>
        {shown.map((row, at) => (
          <Pass key={row.id} row={row} at={at + 1} />
        ))}
      </div>
      {changed.length === 0 && <div class="state">No pass of this run changed anything.</div>}
      {changed.length > FEW && (
        <div class="ov-more">
          <button type="button" class="link num" onClick={() => setAll(!all)}>
            {all ? `Show the first ${FEW}` : `Show ${count(Math.min(changed.length, MOST) - FEW)} more`}
          </button>
        </div>
      )}
    </section>
  );
}

function Pass({ row, at }: { row: Row; at: number }) {
  const of = rows.value[row.parent]?.name ?? "";
  return (
    <div class="ov-item" data-line>
      <span class="t3 num ov-at">{count(at)}</span>
      <Go to={passAt(row.id)} class="link plain b el name" title={short(row.name, 500)}>
        {short(row.name)}
      </Go>
      <span class="t3 small el eq1" title={short(of, 500)}>
        {of === row.name ? "" : short(of)}
      </span>
      <span class="sp" />
      <span class="t3 small num nw">
        {[
          row.steps > 1 && plural(row.steps, "step"),
          row.nodes > 0 && plural(row.nodes, "node"),
          row.ms > 0 && millis(row.ms),
        ]
          .filter(Boolean)
          .join(", ")}
      </span>
    </div>
  );
}
