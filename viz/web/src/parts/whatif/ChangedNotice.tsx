/** "distribute changed, index.py:18", with what can be done about it: one line of the status bar, whose
 * room is always there. */
import { plural, short } from "../../state/format";
import { run } from "../../state/state";
import { closeNotice, notice } from "./changed";
import { cancelJob, canTry, isRunning, job, replay, subject } from "./store";

export function ChangedNotice() {
  const n = notice.value;
  const j = job.value;
  if (j.kind === "running" && j.what.startsWith("Replaying"))
    return (
      <span class="wi-notice" role="status">
        <span class="el">
          {short(j.what, 80)}
          {j.progress && <span class="t2">, {short(j.progress, 80)}</span>}
        </span>
        <button type="button" class="link" onClick={cancelJob}>
          Cancel
        </button>
      </span>
    );
  if (!n) return null;
  const [first, ...others] = n.changed;
  const said = `${first!.said}${others.length ? `, and ${plural(others.length, "more rule")}` : ""}`;
  const kernels = run.value?.totals.kernels ?? 0;
  return (
    <span class="wi-notice" role="status" title={n.changed.map((one) => one.said).join("\n")}>
      <span class="b" aria-hidden="true">
        ◆
      </span>
      <span class="el">{short(said, 120)}</span>
      <span class="t2 mid">{n.replayed ? "Replayed." : "Replay with the new code:"}</span>
      {canTry() && (
        <button
          type="button"
          class="link b"
          disabled={isRunning()}
          title={`Replay ${short(subject.value?.name ?? "", 80)} with the new code (Shift L)`}
          onClick={() => void replay(false)}
        >
          this kernel
        </button>
      )}
      <button
        type="button"
        class="link b"
        disabled={isRunning()}
        title="Replay all kernels with the new code (Shift A)"
        onClick={() => void replay(true)}
      >
        {kernels > 1 ? `all ${plural(kernels, "kernel")}` : "all kernels"}
      </button>
      <button type="button" class="link plain" aria-label="Close the notice" onClick={closeNotice}>
        ✕
      </button>
    </span>
  );
}
