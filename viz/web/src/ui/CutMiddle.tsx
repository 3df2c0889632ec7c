/**
 * A name whose end tells it from others: what does not fit is left out before its last characters.
 * Laid out inline, so that a copied name is one line.
 */

/** Characters at the end that always stay. */
const KEPT = 5;

export function CutMiddle({ text }: { text: string }) {
  if (text.length <= 2 * KEPT) return <>{text}</>;
  const end = text.slice(-KEPT).trimStart(); // a space behind the dots would look like a gap
  return (
    <span class="cut-middle" style={{ "--end": `${end.length}ch` }}>
      <span class="el">{text.slice(0, text.length - end.length)}</span>
      <span class="end">{end}</span>
    </span>
  );
}
