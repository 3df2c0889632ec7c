/** A figure over the commits: a line for each program through the medians, the range of its runs, and
 * marks at the commits that changed it. */
import type { FleetSeries } from "../../data/fleet";
import { short } from "../../state/format";
import { fleetLink, show } from "./link";
import { INKS } from "./paint";
import { Plot } from "./Plot";
import { fleet, openPair, series, subject } from "./store";
import { said, words } from "./words";

type Program = FleetSeries["programs"][number];

export function Figure() {
  const known = series.value;
  const { metric } = fleetLink.value;
  const isDrawn = known?.metric === metric && known.of === subject.value;
  return (
    <>
      <div class="ph">
        <select
          class="btn"
          aria-label="Figure"
          value={metric}
          onChange={(e) => show({ metric: e.currentTarget.value })}
        >
          {fleet.value!.metrics.map((m) => (
            <option key={m.name} value={m.name}>
              {words(m.name)} of each {m.of}
            </option>
          ))}
        </select>
        <b class="mono el">{short(subject.value)}</b>
        <span class="sp" />
        {isDrawn &&
          known.programs.map((p, i) => (
            <span key={p.program} class="row key nw">
              <i style={{ background: `var(${INKS[i % INKS.length]!})` }} aria-hidden="true" />
              {short(p.program, 40)}
            </span>
          ))}
      </div>
      {!isDrawn ? (
        <div class="state">Loading the figure</div>
      ) : known.programs.length ? (
        <>
          <Plot known={known} />
          <Changes known={known} />
        </>
      ) : (
        <div class="state">
          No run has {metric} of {short(subject.value)}.
        </div>
      )}
    </>
  );
}

/** The commits that changed it, each with the program in which it changed most: a link to two runs side
 * by side. */
function Changes({ known }: { known: FleetSeries }) {
  const found = new Map<string, (Program["changes"][number] & { program: string })[]>();
  for (const { program, changes } of known.programs)
    for (const change of changes)
      found.set(change.commit, [...(found.get(change.commit) ?? []), { ...change, program }]);
  const commits = known.commits.filter((commit) => found.has(commit));
  if (!commits.length) return <div class="changes t3">No commit has changed it.</div>;
  return (
    <div class="changes row wrap">
      {commits.map((commit) => {
        const all = found.get(commit)!;
        const c = all.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most));
        return (
          <button
            type="button"
            key={commit}
            class="chip"
            title={`Open runs of ${short(c.program)} before and after side by side`}
            onClick={() => void openPair(c.a, c.b)}
          >
            <span class="cmov" aria-hidden="true">
              ◆
            </span>
            <span class="mono">{commit.slice(0, 8)}</span>
            {short(c.program, 24)}
            {all.length > 1 && ` and ${all.length - 1} more`}: {said(known.metric, c.before)} to{" "}
            {said(known.metric, c.after)}
          </button>
        );
      })}
    </div>
  );
}

/** How far a change is from none, up and down alike. */
const sizeOf = ({ before, after }: { before: number; after: number }): number =>
  Math.abs(Math.log(Math.max(after, 1e-9) / Math.max(before, 1e-9)));
