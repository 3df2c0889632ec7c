/** "2 of 7" lit lines of a column, with the way to the others. */
import { count, plural } from "../../state/format";
import { Icon } from "../../ui/Icon";
import type { Linked } from "../source/linked";

interface StepperProps {
  linked: Linked;
  column: string;
  name: string;
  lines: readonly number[];
  /** Further ones that are less closely related. */
  cut: number;
}

export function Stepper({ linked, column, name, lines, cut }: StepperProps) {
  const rest = cut
    ? `${plural(cut, "more line")} only distantly related, which would be over a third of the text`
    : undefined;
  if (!lines.length)
    return (
      <span class="t3 small nw" title={rest}>
        No line
      </span>
    );
  if (lines.length === 1)
    return (
      <span class="t2 small nw" title={rest}>
        1 line
      </span>
    );
  const at = Math.max(0, lines.indexOf(linked.current(column, lines) ?? -1));
  return (
    <span class="stepper" role="group" aria-label={`Lit lines of ${name}`} title={rest}>
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label={`Previous lit line of ${name}`}
        onClick={() => linked.walk(column, lines, -1)}
      >
        <Icon name="prev" />
      </button>
      <span class="num nw" aria-live="polite">
        {count(at + 1)} of {count(lines.length)}
      </span>
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label={`Next lit line of ${name}`}
        onClick={() => linked.walk(column, lines, 1)}
      >
        <Icon name="right" />
      </button>
    </span>
  );
}
