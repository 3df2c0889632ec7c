/** A mark: whether the steps of a pass, a kernel or the run are right. */
import { countsWords, type Mark, SIGNS } from "./marks";

export function CheckMark({ mark }: { mark: Mark }) {
  const { mark: sign, tint, word } = SIGNS[mark.sign];
  const said = countsWords(mark.counts);
  return (
    <span class={`chk ${tint}`} role="img" aria-label={`Checked: ${word}`} title={said}>
      {sign}
    </span>
  );
}
