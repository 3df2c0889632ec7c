/** What the notice line says of the connection: the run has finished or was recorded again, or the server of
 * the page has ended. */
import type { Notice, Said } from "../../parts/notice";
import { openAgain } from "../../parts/traces/recent";
import { allData } from "../../state/actions";
import { closeEnding, ending } from "../../state/ending";
import { baseName } from "../../state/format";
import { retryNow } from "../../state/live";
import { run } from "../../state/state";
import { copyText } from "../../ui/code/copy";

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

function again(): Said | null {
  const r = run.value;
  if (!r?.replaced) return null;
  const words = "The program was recorded again, to the same file. This page still shows the run before.";
  const name = baseName(r.file);
  return {
    words,
    text: words,
    actions: [{ title: "Show the new run", run: () => void openAgain(name) }],
  };
}

export const againNotice: Notice = { id: "again", order: "again", say: again };
export const finishedNotice: Notice = { id: "finished", order: "finished", say: () => said(false) };
export const goneNotice: Notice = { id: "gone", order: "lost", say: () => said(true) };
