/** What the notice line says of rules that have changed on disk, and of a variant that is prepared. */
import type { Notice } from "../notice";
import { capital, plural, short } from "../../state/format";
import { kernelCount, run } from "../../state/state";
import { asked, changesSomething, clear, wordsOf } from "./asked";
import { closeNotice, notice } from "./changed";
import {
  cancelJob,
  canTry,
  compareWith,
  dismissError,
  isRunning,
  job,
  replay,
  subject,
  verdictOfAsked,
} from "./store";
import { openVariants } from "./variants";

/** "distribute changed, identities.py:88", with what can be done about it; while it replays, how far. */
export const changedNotice: Notice = {
  id: "rule",
  order: "rule",
  say() {
    const n = notice.value;
    const j = job.value;
    if (j.kind === "running" && j.what.startsWith("Replaying"))
      return {
        words: j.progress ? `${j.what}, ${j.progress}` : j.what,
        text: (
          <>
            <b>{short(j.what, 80)}</b>{" "}
            {j.progress && <span class="t2">{short(j.progress, 80)}</span>}
          </>
        ),
        actions: [{ title: "Cancel", run: cancelJob }],
      };
    if (!n) return null;
    const [first, ...others] = n.changed;
    const said = `${first!.said}${others.length ? `, and ${plural(others.length, "more rule")}` : ""}`;
    const kernels = run.value?.totals.kernels ?? 0;
    return {
      words: n.changed.map((one) => one.said).join("\n"),
      text: (
        <>
          <b>{short(said, 160)}</b>{" "}
          <span class="t2">
            {n.replayed ? "Replayed: Compare shows what differs." : "This page shows the old code."}
          </span>
        </>
      ),
      actions: [
        ...(canTry()
          ? [
              {
                title: "Replay this kernel",
                hint: `Replay ${short(subject.value?.name ?? "", 80)} with the new code`,
                disabled: isRunning(),
                run: () => void replay(false),
              },
            ]
          : []),
        {
          title: kernels > 1 ? `Replay all ${kernelCount(kernels)}` : "Replay all kernels",
          hint: "Replay all kernels with the new code",
          disabled: isRunning(),
          run: () => void replay(true),
        },
      ],
      close: closeNotice,
    };
  },
};

/** "What if: without distribute", prepared and not yet done; while it is done, how far; why it failed. */
export const whatIfNotice: Notice = {
  id: "whatif",
  order: "whatif",
  say() {
    const j = job.value;
    if (j.kind === "running" && !j.what.startsWith("Replaying"))
      return {
        words: j.progress ? `${j.what}, ${j.progress}` : j.what,
        text: (
          <>
            <b>{short(j.what, 120)}</b>{" "}
            {j.progress && <span class="t2">{short(j.progress, 80)}</span>}
          </>
        ),
        actions: [{ title: "Cancel", run: cancelJob }],
      };
    if (j.kind === "error")
      return {
        words: [j.error.what, j.error.where, j.error.hint].filter(Boolean).join("\n"),
        text: (
          <>
            <b>{short(j.error.what, 160)}</b> <span class="t2">{short(j.error.hint, 200)}</span>
          </>
        ),
        actions: [
          { title: "All variants", hint: "The table of what was tried", run: openVariants },
        ],
        close: dismissError,
      };
    if (!changesSomething.value || !subject.value || !canTry()) return null;
    const what = wordsOf(asked.value);
    const came = verdictOfAsked.value;
    if (came)
      return {
        words: `${capital(what)}. ${came.words}`,
        text: (
          <>
            <b>{short(capital(what), 120)}</b>{" "}
            <span class={came.tint === "del" ? "cdel" : "t2"}>{short(came.words, 240)}</span>
          </>
        ),
        actions: [
          { title: "All variants", hint: "The table of what was tried", run: openVariants },
        ],
        close: clear,
      };
    return {
      words: `What if: ${what}`,
      text: (
        <>
          <b>What if</b> {short(what, 160)}
          <span class="t2">, of {short(subject.value.name, 80)}</span>
        </>
      ),
      actions: [
        {
          title: "Compile and compare",
          hint: "Compile it, run it in turn with the recorded one, and show what differs",
          run: () => void compareWith(asked.peek()),
        },
        { title: "All variants", hint: "The table of what was tried", run: openVariants },
      ],
      close: clear,
    };
  },
};
