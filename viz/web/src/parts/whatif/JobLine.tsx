/** How far the job is, or why it failed. Its room is always there. */
import { short } from "../../state/format";
import { Clipped } from "../../ui/code/Text";
import { asked, wordsOf } from "./asked";
import { job } from "./store";

export function JobLine() {
  const j = job.value;
  if (j.kind === "error")
    return (
      <div class="wi-job cdel" role="alert">
        <b>
          <Clipped text={j.error.what} limit={240} />
        </b>{" "}
        {j.error.where && <span class="mono">{short(j.error.where, 120)} </span>}
        <span class="t2">{short(j.error.hint, 200)}</span>
      </div>
    );
  if (j.kind === "running")
    return (
      <div class="wi-job" role="status">
        {short(j.what, 200)}
        {j.progress && <span class="t2">: {short(j.progress, 120)}</span>}
        <div class="progress">
          <i class="any" />
        </div>
      </div>
    );
  return <div class="wi-job t2">Next: {short(wordsOf(asked.value), 300)}</div>;
}
