/**
 * A name that is cut where it says least: before what tells it from the names beside it, which is its end unless
 * others end alike. The parts that are drawn are no text: read, copied and found is the whole name.
 */
import { KEPT_END } from "../state/format";

/** Characters that the dots and one more take. */
const FEW = 5;

/** `from`: where the part begins that tells it from names beside it, where these end alike. */
export function CutMiddle({ text, from }: { text: string; from?: number | undefined }) {
  if (text.length <= 2 * KEPT_END) return <>{text}</>;
  const last = text.length - KEPT_END;
  const isEnd = from === undefined || from >= last;
  // Of a head that is hardly longer than the dots nothing is cut.
  const begin = isEnd ? last : from < FEW ? 0 : from;
  // A space behind the dots would look like a gap.
  const tail = text.slice(begin).replace(/^[\s,]+/, "");
  return (
    <span class="cut-middle">
      <span class="whole">{text}</span>
      <span class="parts" aria-hidden="true">
        <span class="el head" data-text={text.slice(0, text.length - tail.length)} />
        <span class={isEnd ? "end" : "el"} data-text={tail} />
      </span>
    </span>
  );
}
