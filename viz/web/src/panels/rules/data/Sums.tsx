/** What all rules that are listed cost together. */
import { count, micros, plural } from "../../../state/format";
import { REST, REST_TITLE, TRY_TITLE, type Cost } from "./costs";
import { costs, counted } from "./store";

/** The sum over all lines that are listed. */
export function Sums() {
  const all = costs.value.filter((c) => c.id !== REST);
  const sum = (of: (c: Cost) => number): number => all.reduce((n, c) => n + of(c), 0);
  const unknown = new Set(all.filter((c) => c.tries === null).map((c) => c.id)).size;
  const rest = costs.value.reduce((n, c) => n + (c.id === REST ? (c.us ?? 0) : 0), 0);
  return (
    <div class="sums num">
      <span>
        {all.length > 0 && all.every((c) => c.tries === null) ? (
          "tries not recorded in this trace"
        ) : (
          <>
            <b>{count(sum((c) => c.tries ?? 0))}</b> tried
            {unknown > 0 && ` (not recorded for ${plural(unknown, "rule")})`}
          </>
        )}
      </span>
      <span>
        <b>{count(sum((c) => c.matches))}</b> matched
      </span>
      <span>
        <b>{count(sum((c) => c.declines))}</b> declined
      </span>
      {counted.value && (
        <span>
          <b>+{count(sum((c) => c.added))}</b> and <b>−{count(sum((c) => c.removed))}</b> nodes
        </span>
      )}
      <span>
        <b>{micros(sum((c) => c.us ?? 0))}</b> in matches
      </span>
      {all.some((c) => c.tryUs !== null) && (
        <span title={TRY_TITLE}>
          <b>{micros(sum((c) => c.tryUs ?? 0))}</b> in tries
        </span>
      )}
      {rest > 0 && (
        <span title={REST_TITLE}>
          <b>{micros(rest)}</b> outside matches
        </span>
      )}
    </div>
  );
}
