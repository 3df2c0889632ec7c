/** A folder of packed runs: a figure over the commits, the rules and kernels of all runs, and the runs
 * themselves in a list that is asked for as far as it is looked at. */
import { useMemo } from "preact/hooks";
import type { FleetRun } from "../../data/fleet";
import { count, micros, plural, short } from "../../state/format";
import { onSearchKeys } from "../../state/regions";
import { Highlight } from "../../ui/Highlight";
import { Icon } from "../../ui/Icon";
import { SortHead } from "../../ui/SortHead";
import { VirtualList } from "../../ui/VirtualList";
import { Figure } from "./Figure";
import { fleetLink, show } from "./link";
import {
  cursor,
  fleet,
  mark,
  marked,
  MOST,
  need,
  openRun,
  problem,
  runAt,
  subject,
  total,
} from "./store";

const LINE = 28;
const COLUMNS = [
  { key: "time", name: "Begun" },
  { key: "commit", name: "Commit" },
  { key: "program", name: "Program" },
  { key: "seconds", name: "Seconds", right: true },
  { key: "kernels", name: "Kernels", right: true },
  { key: "steps", name: "Steps", right: true },
];

export function FleetView() {
  const known = fleet.value;
  if (!known) return <main class="fleet" aria-label="Packed runs" />;
  return (
    <main class="fleet" aria-label="Packed runs">
      <section class="figure" data-region="Figure" aria-label="A figure over the commits">
        <Figure />
      </section>
      <section class="names" data-region="Rules and kernels" aria-label="Rules and kernels">
        <Names
          title="Rules by time"
          metric="rule-time"
          rows={known.rules.map((r) => ({ name: r.name, share: r.us, said: micros(r.us) }))}
        />
        <Names
          title="Kernels by runs"
          metric="launch-time"
          rows={known.kernels.map((k) => ({ name: k.name, share: k.runs, said: count(k.runs) }))}
        />
      </section>
      <section class="grid-list runlist" data-region="Runs" aria-label="Runs">
        <Tools />
        <SortHead
          columns={COLUMNS}
          order={fleetLink.value.sort}
          onOrder={(sort) => show({ sort })}
        />
        <List />
      </section>
    </main>
  );
}

interface Name {
  name: string;
  share: number;
  said: string;
}

function Names({ title, metric, rows }: { title: string; metric: string; rows: readonly Name[] }) {
  const most = rows.reduce((m, r) => Math.max(m, r.share), 1);
  const now = fleetLink.value.metric === metric ? subject.value : null;
  return (
    <div class="list">
      <h2>{title}</h2>
      <div class="scroll">
        {rows.map((r) => (
          <button
            type="button"
            key={r.name}
            class="name"
            aria-pressed={r.name === now}
            title={short(r.name, 400)}
            onClick={() => show({ metric, of: r.name })}
          >
            <span class="el mono">{short(r.name)}</span>
            <span class="num">{r.said}</span>
            <span class="bar" aria-hidden="true">
              <i style={{ width: `${(100 * r.share) / most}%` }} />
            </span>
          </button>
        ))}
        {!rows.length && <div class="t3">None of the runs has any.</div>}
      </div>
    </div>
  );
}

function Tools() {
  const { query } = fleetLink.value;
  const found = total.value;
  const { commits, runs } = fleet.value!;
  return (
    <div class="ph">
      <b class="mid nw">Runs</b>
      <label class="field find">
        <Icon name="search" />
        <input
          id="fleet-search"
          type="search"
          placeholder="Commit, program, file or kernel"
          aria-label="Search the runs"
          spellcheck={false}
          value={query}
          aria-controls="fleet-runs"
          onInput={(e) => show({ query: e.currentTarget.value })}
          onKeyDown={onSearchKeys("fleet-runs", query, () => show({ query: "" }))}
        />
        <kbd>/</kbd>
      </label>
      {marked.value && (
        <span class="t2 el">
          Marked: <b class="mono">{marked.value.commit.slice(0, 12)}</b>{" "}
          {short(marked.value.program)}; mark another run to compare the two
        </span>
      )}
      <span class="sp" />
      <span class="t3 num nw" role="status">
        {query && found !== null
          ? `${count(found)} of ${plural(runs, "run")}`
          : plural(runs, "run")}
        , {plural(commits, "commit")}
        {found !== null && found > MOST ? `; the first ${count(MOST)} are listed` : ""}
      </span>
    </div>
  );
}

function List() {
  const failed = problem.value;
  const size = Math.min(total.value ?? 0, MOST);
  const lines = useMemo(() => Array.from({ length: size }, (_, i) => i), [size]);
  if (failed)
    return (
      <div class="state" role="alert">
        <div class="h">{failed.what}</div>
        <div>{failed.hint}</div>
        <div class="mono">{failed.where}</div>
      </div>
    );
  if (!size)
    return (
      <div class="state">
        {total.value === null ? (
          "Loading the runs"
        ) : (
          <>
            <span>
              No run has <b>{short(fleetLink.value.query)}</b> in its commit, program, file or
              kernels.
            </span>
            <button type="button" class="btn" onClick={() => show({ query: "" })}>
              Clear
            </button>
          </>
        )}
      </div>
    );
  return (
    <VirtualList
      id="fleet-runs"
      class="tree"
      role="listbox"
      label="Runs"
      items={lines}
      keyOf={String}
      lineHeight={LINE}
      cursor={cursor.value === null ? null : String(cursor.value)}
      reveal={null}
      onCursor={(key) => (cursor.value = Number(key))}
      onKey={(e, line) => {
        const run = line === undefined ? undefined : runAt(line);
        if (!run || (e.key !== "Enter" && e.key !== " ")) return;
        e.preventDefault();
        e.stopPropagation();
        if (e.key === "Enter") void openRun(run);
        else mark(run);
      }}
      draw={(line) => <Line key={line} line={line} />}
    />
  );
}

function Line({ line }: { line: number }) {
  const run = runAt(line);
  if (!run) queueMicrotask(() => need(line));
  const classes = [
    "trow",
    run && marked.value?.run === run.run && "sel",
    cursor.value === line && "cur",
  ];
  return (
    <div
      id={`fleet-runs-${line}`}
      role="option"
      aria-selected={run !== undefined && marked.value?.run === run.run}
      class={classes.filter(Boolean).join(" ")}
      style={{ top: `${line * LINE}px`, height: `${LINE}px` }}
      onClick={() => (cursor.value = line)}
      onDblClick={() => run && void openRun(run)}
    >
      {run ? <Cells run={run} /> : <span class="t3">…</span>}
    </div>
  );
}

function Cells({ run }: { run: FleetRun }) {
  const { query } = fleetLink.value;
  return (
    <>
      <span class="el num">{run.time.slice(0, 19).replace("T", " ")}</span>
      <span class="el mono">
        <Highlight text={run.commit.slice(0, 12) || "unknown"} query={query} />
      </span>
      <span class="el" title={short(run.program, 400)}>
        <Highlight text={short(run.program)} query={query} />
      </span>
      <span class="num r">{run.seconds.toFixed(1)}</span>
      <span class="num r">{count(run.kernels)}</span>
      <span class="num r">{count(run.steps)}</span>
      <span class="row acts">
        <button
          type="button"
          class="link"
          disabled={!run.path}
          title={run.path ? short(run.path, 400) : "This run was packed without its place"}
          onClick={() => void openRun(run)}
        >
          Open
        </button>
        <button type="button" class="link" disabled={!run.path} onClick={() => mark(run)}>
          {marked.value && marked.value.run !== run.run ? "Compare" : "Mark"}
        </button>
      </span>
    </>
  );
}
