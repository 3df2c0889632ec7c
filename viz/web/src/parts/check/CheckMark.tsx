/** A mark: whether the steps of a pass, a kernel or the run are right. */
import { type Mark, markWords, SIGNS } from "./marks";

/** `isNamed`: the words stand beside it. */
export function CheckMark({ mark, isNamed = false }: { mark: Mark; isNamed?: boolean }) {
  const { mark: sign, tint } = SIGNS[mark.sign];
  const said = markWords(mark);
  if (isNamed)
    return (
      <span class={`chk ${tint}`} aria-hidden="true">
        {sign}
      </span>
    );
  return (
    <span class={`chk ${tint}`} role="img" aria-label={`Check: ${said}`} title={said}>
      {sign}
    </span>
  );
}
