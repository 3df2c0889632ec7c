/** Below the top bar: a link of another run says so, and what is being opened says how long. */
import { useEffect, useState } from "preact/hooks";
import { openRecent, useRecent } from "../../parts/traces/recent";
import { short } from "../../state/format";
import { runNamed } from "../../state/link/named";
import { opening, otherLink, run } from "../../state/state";

/** Work that takes longer than this shows. */
const SHOWN_MS = 1000;

export function OtherRun() {
  return (
    <>
      {run.value && otherLink.value && !opening.value && <OtherLink {...otherLink.value} />}
      {opening.value && <Opening {...opening.value} />}
    </>
  );
}

function OtherLink({ name, hash }: { name: string; hash: string }) {
  const { traces } = useRecent();
  const isThere = traces.some((t) => t.name === name);
  if (!name) return <NotOpen letter={runNamed(hash)} />;
  return (
    <div class="banner soft">
      <span class="sig mov">◆</span>
      <div class="words" role="alert">
        This link belongs to another run: <b class="mono">{short(name)}</b>.
        {!isThere && (
          <span class="t2">
            {" It is not among the recent traces; open its file with "}
            <code>uopviz open</code>.
          </span>
        )}
      </div>
      <div class="row wrap">
        {isThere && (
          <button type="button" class="btn sm pri" onClick={() => void openRecent(name)}>
            Open that run
          </button>
        )}
        <button type="button" class="btn sm" onClick={() => (otherLink.value = null)}>
          Stay in this run
        </button>
      </div>
    </div>
  );
}

/** A link that says the letter of a run alone. */
function NotOpen({ letter }: { letter: string }) {
  return (
    <div class="banner soft">
      <span class="sig mov">◆</span>
      <div class="words" role="alert">
        This link belongs to run {letter}, which is not open.
      </div>
      <button type="button" class="btn sm" onClick={() => (otherLink.value = null)}>
        Stay in this run
      </button>
    </div>
  );
}

function Opening({ name, since }: { name: string; since: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SHOWN_MS / 4);
    return () => clearInterval(timer);
  }, []);
  if (now - since < SHOWN_MS) return null;
  return (
    <div class="banner soft">
      <span role="status">
        Opening <b class="mono">{short(name)}</b>
      </span>
      <span class="t2 num">{Math.floor((now - since) / 1000)} s</span>
      <div class="progress">
        <i class="any" />
      </div>
    </div>
  );
}
