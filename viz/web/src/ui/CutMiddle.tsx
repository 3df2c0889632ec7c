/** A name whose end tells it from others: what does not fit is left out before its last characters. */

/** Characters at the end that always stay. In style/base.css it is the width that they take. */
const KEPT = 5;

export function CutMiddle({ text }: { text: string }) {
  if (text.length <= 2 * KEPT) return <>{text}</>;
  return (
    <span class="cut-middle">
      <span class="el">{text.slice(0, -KEPT)}</span>
      {text.slice(-KEPT)}
    </span>
  );
}
