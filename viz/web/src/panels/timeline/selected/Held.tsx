/** What a device's memory holds at a moment: each allocation, what it was taken for, and which lines of
 * the user asked for that. */
import { bytes, count, micros, place, plural, short } from "../../../state/format";
import { Place } from "../../../ui/code/Text";
import type { Allocation, Moment } from "../data/alive";
import { namePick } from "../data/pick";
import { pickNext, pickPeak } from "../data/store";
import { goTimeline } from "../data/link";

/** Allocations that are listed. */
const MOST = 200;
/** Lines of one allocation that are listed. */
const MOST_LINES = 4;

export function Held({ moment: m }: { moment: Moment }) {
  const left = m.alive.slice(MOST);
  return (
    <>
      <dl class="kv pad">
        <dt>Allocated</dt>
        <dd>
          <b class="num">{bytes(m.bytes)}</b>{" "}
          <span class="t3">
            {m.peak ? "the peak, " : ""}at {micros(m.time)}
          </span>
        </dd>
        <dt>In</dt>
        <dd class="num">{plural(m.alive.length, "buffer")}</dd>
        {m.unknown > 0 && (
          <>
            <dt>Not known</dt>
            <dd>
              <span class="num">{bytes(m.unknown)}</span>{" "}
              <span class="t3">taken before the recording, or the trace does not say for what</span>
            </dd>
          </>
        )}
      </dl>
      <div class="row wrap g4 tl-acts">
        {!m.peak && (
          <button type="button" class="btn sm" onClick={pickPeak}>
            Go to the peak
          </button>
        )}
        <button type="button" class="btn sm" title="←" onClick={() => pickNext(-1)}>
          Change before
        </button>
        <button type="button" class="btn sm" title="→" onClick={() => pickNext(1)}>
          Next change
        </button>
      </div>
      {m.alive.length > 0 && (
        <ul class="tl-held" aria-label="Buffers in memory">
          {m.alive.slice(0, MOST).map((one, i) => (
            <Buffer key={i} one={one} of={m.bytes} />
          ))}
        </ul>
      )}
      {left.length > 0 && (
        <div class="t3 pad">
          {plural(left.length, "smaller buffer")} not listed,{" "}
          {bytes(left.reduce((sum, one) => sum + one.bytes, 0))} together
        </div>
      )}
    </>
  );
}

function Buffer({ one, of }: { one: Allocation; of: number }) {
  return (
    <li>
      <div class="row g4">
        <b class="num">{bytes(one.bytes)}</b>
        {one.kernel ? (
          <button
            type="button"
            class="link mono el"
            title={`${short(one.kernel, 1000)}: the first to write it`}
            onClick={() => goTimeline({ pick: namePick(one.kernel) })}
          >
            {short(one.kernel)}
          </button>
        ) : (
          <span class="t3">data of the program</span>
        )}
        <span class="sp" />
        <span class="t3 num nw">since {micros(one.since)}</span>
      </div>
      <span class="bar" aria-hidden="true">
        <i style={{ width: `${of ? (100 * one.bytes) / of : 0}%` }} />
      </span>
      {one.lines.slice(0, MOST_LINES).map((line) => (
        <div key={line} class="el">
          <Place {...place(line)} />
        </div>
      ))}
      {one.lines.length > MOST_LINES && (
        <div class="t3">{count(one.lines.length - MOST_LINES)} more lines of the kernel</div>
      )}
    </li>
  );
}
