/** One line: the connection, the file and its counts; and for a moment what was announced. */
import { useEffect, useState } from "preact/hooks";
import { allData } from "../../state/actions";
import { baseName, bytes, count, plural, short } from "../../state/format";
import { retryNow } from "../../state/live";
import { announcement, connection, fatal, hasRows, kernelCount, run } from "../../state/state";

export function StatusBar() {
  const r = run.value;
  return (
    <footer class="status" data-region="Status">
      <Connected />
      {r && (r.command || hasRows.value) && (
        <>
          <span class="mono mid" title={short(r.file, 1000)}>
            {short(baseName(r.file), 60)}
          </span>
          <span class="num mid">{bytes(r.bytes)}</span>
          <span class="wide num">
            {r.totals.kernels || !r.totals.rewrites
              ? kernelCount(r.totals.kernels)
              : plural(r.totals.rewrites, "pass", "passes")}
            , {plural(r.totals.steps, "step")},{" "}
            <span class={r.lost ? "cmov b" : undefined}>{count(r.lost)} lost</span>
          </span>
        </>
      )}
      <Said />
    </footer>
  );
}

/** How long the last announcement stays readable, ms. */
const SAID_MS = 5000;

/** What was announced to screen readers, for a moment, for those who look. */
function Said() {
  const [shown, show] = useState("");
  const said = announcement.value;
  useEffect(() => {
    show(said);
    const timer = setTimeout(() => show(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <span class="el said" aria-hidden="true" title={shown}>
      {short(shown, 200)}
    </span>
  );
}

function Connected() {
  const c = connection.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (c.kind !== "lost") return;
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [c.kind]);
  switch (c.kind) {
    case "starting":
      return <span class="row g4">{fatal.value ? "Not connected" : "Connecting"}</span>;
    case "connected":
      return (
        <span class="row g4">
          <span class="cadd b">●</span>Connected
        </span>
      );
    case "embedded":
      return (
        <span class="row g4">
          <span class="acc b">■</span>Exported file
        </span>
      );
    case "ended":
      return (
        <span class="row g4">
          <span class="t3 b">○</span>Server ended
        </span>
      );
    case "lost":
      return (
        <span class="row g4 cmov" role="status">
          <b>▲</b>
          {c.why}, next try in {Math.max(0, Math.ceil((c.retryAt - Date.now()) / 1000))} s
          <button type="button" class="link" onClick={() => retryNow(allData())}>
            Try now
          </button>
        </span>
      );
  }
}
