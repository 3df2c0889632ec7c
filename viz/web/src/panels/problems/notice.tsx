/** The notice that something went wrong: what the run recorded, and what the page itself met. */
import { signal } from "@preact/signals";
import type { Notice } from "../../parts/notice";
import { count, plural, short } from "../../state/format";
import { overlay, ownProblems, run } from "../../state/state";

/** How many there were when the notice was closed. */
const closedAt = signal(0);

const all = () => [...(run.value?.problems ?? []), ...ownProblems.value];

export const problemsNotice: Notice = {
  id: "problems",
  order: "problem",
  say() {
    const now = all();
    const last = now.at(-1);
    if (!last || now.length <= closedAt.value) return null;
    const what = short(last.what.split("\n")[0] ?? "", 240);
    return {
      words: last.where ? `${what}, at ${short(last.where, 240)}` : what,
      text: (
        <>
          <b>{now.length === 1 ? "Problem" : plural(now.length, "problem")}</b> <span>{what}</span>
        </>
      ),
      actions: [
        {
          title: now.length === 1 ? "Show" : `Show all ${count(now.length)}`,
          run: () => (overlay.value = "problems"),
        },
      ],
      close: () => (closedAt.value = now.length),
    };
  },
};
