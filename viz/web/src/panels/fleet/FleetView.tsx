/** A folder of packed runs: a figure over the commits, the rules and kernels of all runs, and the runs
 * themselves in a list that is asked for as far as it is looked at. */
import { computed, signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
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
  names,
  need,
  openRun,
  problem,
  runAt,
  subject,
  total,
} from "./store";

const LINE = 28;
const NAME_LINE = 26;
/** More lines than are in view: those that leave it become those that enter it, which costs less than new
 * ones. */
const RECYCLED = 256;
const COLUMNS = [
  { key: "time", name: "Begun" },
  { key: "commit", name: "Commit" },
  { key: "program", name: "Program" },
  { key: "seconds", name: "Seconds", right: true },
  { key: "kernels", name: "Kernels", right: true },
  { key: "steps", name: "Steps", right: true },
];

interface Name {
  name: string;
  share: number;
  said: string;
}

const ruleRows = computed<readonly Name[] | undefined>(() =>
  names.value?.rules.map((r) => ({ name: r.name, share: r.us, said: micros(r.us) })),
);
const kernelRows = computed<readonly Name[] | undefined>(() =>
  names.value?.kernels.map((k) => ({ name: k.name, share: k.runs, said: count(k.runs) })),
);
/** The line that the pointer is at. */
const pointed = signal<number | null>(null);

export function FleetView() {
  const known = fleet.value;
  if (!known) return <main class="fleet" aria-label="Packed runs" />;
  return (
    <main class="fleet" aria-label="Packed runs">
      <section class="figure" data-region="Figure" aria-label="A figure over the commits">
        <Figure />
      </section>
      <section class="names" data-region="Rules and kernels" aria-label="Rules and kernels">
        <Names id="fleet-rules" title="Rules by time" metric="rule-time" rows={ruleRows.value} />
        <Names
          id="fleet-kernels"
          title="Kernels by runs"
          metric="launch-time"
          rows={kernelRows.value}
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

interface NamesProps {
  id: string;
  title: string;
  metric: string;
  rows: readonly Name[] | undefined;
}

function Names({ id, title, metric, rows }: NamesProps) {
  const most = useMemo(() => (rows ?? []).reduce((m, r) => Math.max(m, r.share), 1), [rows]);
  const [at, setAt] = useState<string | null>(null);
  const now = fleetLink.value.metric === metric ? subject.value : null;
  return (
    <div class="list">
      <h2>{title}</h2>
      {rows?.length ? (
        <VirtualList
          id={id}
          class="tree"
          role="listbox"
          label={title}
          items={rows}
          keyOf={(r) => r.name}
          lineHeight={NAME_LINE}
          cursor={at ?? now}
          reveal={now}
          spare={2}
          onCursor={setAt}
          onKey={(e, r) => {
            if (!r || (e.key !== "Enter" && e.key !== " ")) return;
            e.preventDefault();
            e.stopPropagation();
            show({ metric, of: r.name });
          }}
          draw={(r, i) => (
            <div
              key={r.name}
              id={`${id}-${r.name}`}
              role="option"
              aria-selected={r.name === now}
              class={`trow${r.name === now ? " sel" : ""}${r.name === at ? " cur" : ""}`}
              style={{ top: `${i * NAME_LINE}px` }}
              title={short(r.name, 400)}
              onClick={() => {
                setAt(r.name);
                show({ metric, of: r.name });
              }}
            >
              <span class="el mono">{short(r.name)}</span>
              <span class="num">{r.said}</span>
              <span class="bar" aria-hidden="true">
                <i style={{ width: `${(100 * r.share) / most}%` }} />
              </span>
            </div>
          )}
        />
      ) : (
        <div class="t3">{rows ? "None of the runs has any." : problem.value ? "" : "Counting"}</div>
      )}
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
    <div class="runs" onPointerLeave={() => (pointed.value = null)}>
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
        spare={2}
        over={<Actions />}
        onCursor={(key) => (cursor.value = Number(key))}
        onKey={(e, line) => {
          const run = line === undefined ? undefined : runAt(line);
          if (!run || (e.key !== "Enter" && e.key !== " ")) return;
          e.preventDefault();
          e.stopPropagation();
          if (e.key === "Enter") void openRun(run);
          else mark(run);
        }}
        draw={(line) => <Line key={line % RECYCLED} line={line} />}
      />
    </div>
  );
}

function Line({ line }: { line: number }) {
  const run = runAt(line);
  if (!run) queueMicrotask(() => need(line));
  const isMarked = run !== undefined && marked.value?.run === run.run;
  return (
    <div
      id={`fleet-runs-${line}`}
      role="option"
      aria-selected={isMarked}
      class={`trow${isMarked ? " sel" : ""}${cursor.value === line ? " cur" : ""}`}
      style={{ top: `${line * LINE}px` }}
      onPointerEnter={() => (pointed.value = line)}
      onClick={() => (cursor.value = line)}
      onDblClick={() => run && void openRun(run)}
    >
      {run ? <Cells run={run} /> : <span class="t3">…</span>}
    </div>
  );
}

function Cells({ run }: { run: FleetRun }) {
  const { query } = fleetLink.value;
  const marks = (text: string) => (query ? <Highlight text={text} query={query} /> : text);
  return (
    <>
      <span class="num">{run.time.slice(0, 19).replace("T", " ")}</span>
      <span class="mono">{marks(run.commit.slice(0, 12) || "unknown")}</span>
      <span class="el" title={short(run.program, 400)}>
        {marks(short(run.program))}
      </span>
      <span class="num r">{run.seconds.toFixed(1)}</span>
      <span class="num r">{count(run.kernels)}</span>
      <span class="num r">{count(run.steps)}</span>
    </>
  );
}

/** What can be done with the line at the pointer, or that with the cursor: over the lines, so that no
 * line is drawn for it. */
function Actions() {
  const line = pointed.value ?? cursor.value;
  const run = line === null ? undefined : runAt(line);
  if (!run || line === null) return null;
  return (
    <span class="row acts" style={{ transform: `translateY(${line * LINE}px)` }}>
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
  );
}
