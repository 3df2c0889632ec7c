/** What the notice line says of the connection: the run has finished, or the server of the page has ended. */
import type { Notice, Said } from "../../parts/notice";
import { allData } from "../../state/actions";
import { closeEnding, ending } from "../../state/ending";
import { retryNow } from "../../state/live";
import { copyText } from "../../ui/copy";

function said(gone: boolean): Said | null {
  const now = ending.value;
  if (now?.gone !== gone) return null;
  const { words, again } = now;
  return {
    words: `${words} Open it again with ${again}`,
    text: (
      <>
        {words} Open it again with <code class="mono">{again}</code>
      </>
    ),
    actions: [
      { title: "Copy command", run: () => void copyText(again, "Command") },
      ...(gone ? [{ title: "Try now", run: () => retryNow(allData()) }] : []),
    ],
    ...(gone ? {} : { close: closeEnding }),
  };
}

export const finishedNotice: Notice = { id: "finished", order: "finished", say: () => said(false) };
export const goneNotice: Notice = { id: "gone", order: "lost", say: () => said(true) };
