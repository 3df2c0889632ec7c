/** Run: starts only by its button, shows progress, then time as a distribution and equality. */
import { computed, effect, signal } from "@preact/signals";
import { data } from "../../app/actions";
import { count, micros, plural, tiny } from "../../app/format";
import { run } from "../../app/state";
import { asProblem, isAbort } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { ApiProblem, RunResult } from "../../data/types";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/Menu";
import { histogram, quantile } from "./histogram";
import { kernel, progress } from "./kernel";

const LAUNCHES = 100;

type State =
  | { kind: "idle" }
  | { kind: "running"; progress: string }
  | { kind: "done"; result: RunResult }
  | { kind: "error"; error: ApiProblem };

const state = signal<State>({ kind: "idle" });
const device = signal<string | null>(null);
const chosen = computed(() => {
  const devices = run.value?.devices ?? [];
  return device.value !== null && devices.includes(device.value)
    ? device.value
    : (devices[0] ?? null);
});
let job: AbortController | null = null;

/** A result belongs to one kernel and goes with it. */
export function startRunBox(): void {
  effect(() => {
    void kernel.value?.context;
    job?.abort();
    state.value = { kind: "idle" };
  });
}

export function canRun(): boolean {
  const there = data().server !== null && kernel.value !== null && chosen.value !== null;
  return there && progress.value === "finished";
}

/** The user's command to run the kernel on the chosen device. */
export function runKernel(): void {
  const { server } = data();
  const k = kernel.peek();
  const on = chosen.peek();
  if (!server || !k || on === null || state.peek().kind === "running") return;
  const mine = (job = new AbortController());
  state.value = { kind: "running", progress: `Starting on ${on}` };
  follow<RunResult>(
    server,
    () => server.launch(k.context, on, LAUNCHES),
    (progress) => {
      if (!mine.signal.aborted) state.value = { kind: "running", progress };
    },
    mine.signal,
  )
    .then((result) => {
      if (!mine.signal.aborted) state.value = { kind: "done", result };
    })
    .catch((thrown: unknown) => {
      if (isAbort(thrown) || mine.signal.aborted) return;
      state.value = { kind: "error", error: asProblem(thrown, k.name) };
    });
}

export function cancelRun(): boolean {
  if (state.peek().kind !== "running") return false;
  job?.abort();
  state.value = { kind: "idle" };
  return true;
}

export function RunBox() {
  const k = kernel.value;
  if (!k || progress.value !== "finished") return null;
  if (!data().server)
    return <span class="t3 nw">Open the trace with uopviz to run this kernel</span>;
  const devices = run.value?.devices ?? [];
  const s = state.value;
  return (
    <div class="runbox">
      {s.kind === "idle" && <Recorded us={k.launches.us} launches={k.launches.count} />}
      {s.kind === "running" && <span class="t2 el">{s.progress || "Running"}</span>}
      {s.kind === "done" && <Outcome r={s.result} />}
      {s.kind === "error" && <Failed error={s.error} />}
      {devices.length > 1 && s.kind !== "running" && (
        <Menu
          label="Device to run on"
          class="btn sm quiet"
          button={
            <>
              {chosen.value}
              <Icon name="down" />
            </>
          }
        >
          {(close) =>
            devices.map((name) => (
              <MenuItem
                key={name}
                ticked={name === chosen.value}
                onClick={() => {
                  device.value = name;
                  close();
                }}
              >
                {name}
              </MenuItem>
            ))
          }
        </Menu>
      )}
      {s.kind === "running" ? (
        <button type="button" class="btn sm" onClick={cancelRun}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="btn sm pri"
          title={`Run ${LAUNCHES} times on ${chosen.value ?? "no device"} (R)`}
          disabled={chosen.value === null}
          onClick={runKernel}
        >
          <Icon name="play" fill />
          Run
        </button>
      )}
    </div>
  );
}

function Recorded({ us, launches }: { us: number[]; launches: number }) {
  if (!launches) return null;
  const median = quantile(
    [...us].sort((a, z) => a - z),
    0.5,
  );
  return (
    <span class="t2 num nw xwide">
      {plural(launches, "launch", "launches")} in the run
      {us.length > 0 && `, median ${micros(median)}`}
    </span>
  );
}

function Outcome({ r }: { r: RunResult }) {
  return (
    <Menu
      label="Result of the run"
      class="btn sm quiet runresult"
      button={
        <>
          <Bars us={r.us} mark={r.median} width={96} height={20} />
          <span class="num">
            <b>{micros(r.median)}</b>
            <span class="t3 xwide">
              &ensp;p90 {micros(r.p90)} · {plural(r.us.length, "run")}
            </span>
          </span>
          <span class={r.equal === null ? "badge" : r.equal ? "badge add" : "badge del"}>
            {r.equal === null ? "not compared" : r.equal ? "✓ equal" : "≠ differs"}
          </span>
        </>
      }
    >
      {() => <Card r={r} />}
    </Menu>
  );
}

function Card({ r }: { r: RunResult }) {
  const h = histogram(r.us);
  return (
    <div class="pop">
      <div class="row">
        <b class="h">
          {r.equal === null
            ? "Not compared with the reference"
            : r.equal
              ? "Equal to the reference"
              : "Differs from the reference"}
        </b>
      </div>
      <dl class="kv num">
        <dt>Device</dt>
        <dd>{r.device}</dd>
        <dt>Median</dt>
        <dd>{micros(r.median)}</dd>
        <dt>p90</dt>
        <dd>{micros(r.p90)}</dd>
        <dt>Runs</dt>
        <dd>{count(r.us.length)}</dd>
        <dt>Max error</dt>
        <dd>
          {tiny(r.maxError)} <span class="t3">allowed {tiny(r.tolerance)}</span>
        </dd>
        <dt>Reference</dt>
        <dd>{r.reference}</dd>
      </dl>
      <div>
        <Bars us={r.us} mark={r.median} width={308} height={56} />
        <div class="row t3 small num">
          <span>{micros(h.from)}</span>
          <span class="sp" />
          {h.beyond > 0 && (
            <span>
              {plural(h.beyond, "slower run")}, up to {micros(Math.max(...r.us))}
            </span>
          )}
          {h.beyond === 0 && <span>{micros(h.to)}</span>}
        </div>
      </div>
      {r.detail && <p class="t2">{r.detail}</p>}
    </div>
  );
}

function Bars(p: { us: number[]; mark: number; width: number; height: number }) {
  const h = histogram(p.us);
  const most = Math.max(1, ...h.bins);
  const step = p.width / h.bins.length;
  const x = Math.min(p.width - 1, Math.max(0, ((p.mark - h.from) / (h.to - h.from)) * p.width));
  return (
    <svg
      class="bars"
      width={p.width}
      height={p.height}
      role="img"
      aria-label={`Distribution of ${plural(p.us.length, "run")}, median ${micros(p.mark)}`}
    >
      {h.bins.map((n, i) =>
        n ? (
          <rect
            key={i}
            x={i * step}
            y={p.height - Math.max(1, (n / most) * p.height)}
            width={Math.max(1, step - 1)}
            height={Math.max(1, (n / most) * p.height)}
          />
        ) : null,
      )}
      <path d={`M${x} 0V${p.height}`} />
    </svg>
  );
}

function Failed({ error }: { error: ApiProblem }) {
  return (
    <Menu
      label="Why the run failed"
      class="btn sm quiet cdel"
      button={<span class="el">! {error.what}</span>}
    >
      {() => (
        <div class="pop">
          <b>{error.what}</b>
          <span class="mono">{error.where}</span>
          <span>{error.hint}</span>
        </div>
      )}
    </Menu>
  );
}
