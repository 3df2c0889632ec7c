/** One kernel: its call, opts, launches, times, passes, and its source for each target. */
import { onArrows } from "../../../parts/arrows";
import { Failed } from "../../../parts/Failed";
import { KernelSources } from "../../../parts/sources/KernelSources";
import { Go } from "../../../parts/Go";
import { kernelAt, spanAt, spansNamed, timeAt } from "../../../state/link/links";
import { percent } from "../../../parts/speed";
import { nextKernel, setPage } from "../../../state/actions";
import { count, micros, millis, place, plural, short } from "../../../state/format";
import { currentKernel, kernelCount, rows } from "../../../state/state";
import { Icon } from "../../../ui/Icon";
import { Place } from "../../../ui/code/Text";
import type { KernelPage } from "../../../data/messages/overview";
import { optsSentence } from "./opts";
import { Passes } from "./Passes";
import { Runs } from "./Runs";
import { page, watchedKernel } from "./store";
import { Times } from "./Times";

export function KernelView() {
  const k = page.value;
  const problem = watchedKernel.error.value;
  return (
    <main class="ov kp" aria-label="Kernel">
      <Head k={k} />
      {problem && !k && <Failed problem={problem} retry={watchedKernel.retry} />}
      {!problem && !k && (
        <div class="state" role="status">
          Loading the kernel
        </div>
      )}
      {k && (
        <>
          <Passes k={k} />
          <KernelSources size="full" />
          <div class="kp-more">
            <Times k={k} />
            <Runs k={k} />
            <Made k={k} />
          </div>
        </>
      )}
    </main>
  );
}

function Head({ k }: { k: KernelPage | null }) {
  const row = currentKernel.value;
  const names = [...new Set((k?.calls ?? []).map((call) => place(call).call).filter(Boolean))];
  return (
    <header class="ov-head" data-region="Kernel">
      <div class="row">
        <button
          type="button"
          class="btn sm quiet"
          title="Back to the overview (Esc)"
          onClick={() => setPage("overview")}
        >
          <Icon name="prev" />
          Overview
        </button>
        <span class="vr" />
        <h2 class="el" title={short(names.join(", "), 1000)}>
          {short(names.join(", ") || (k?.name ?? row?.name ?? "Kernel"), 160)}
        </h2>
        <span class="sp" />
        <span class="t3 num nw mid">
          {k && k.rank > 0 && `${count(k.rank)} of ${kernelCount(k.of)} by ${word(k.by)}`}
        </span>
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label="Previous kernel"
          title="Previous kernel ({)"
          onClick={() => nextKernel(-1)}
        >
          <Icon name="prev" />
        </button>
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label="Next kernel"
          title="Next kernel (})"
          onClick={() => nextKernel(1)}
        >
          <Icon name="right" />
        </button>
      </div>
      {k && (
        <p class="ov-counts kp-counts num">
          <span class="mono b">{short(k.name, 120)}</span>
          {k.target && <span class="mono">{short(k.target, 60)}</span>}
          {k.launches > 0 ? (
            <span>
              <Go to={spansNamed(k.name)} title="Its launches in the timeline">
                {plural(k.launches, "launch", "launches")}
              </Go>
              {k.device && ` on ${short((k.devices ?? [k.device]).join(", "), 80)}`}
            </span>
          ) : (
            <span class="t3">not launched in this run</span>
          )}
          {k.us > 0 && (
            <span>
              <Go to={k.first === null ? spansNamed(k.name) : timeAt([k.first, k.first + k.us])}>
                {micros(k.us)}
              </Go>{" "}
              in total, {percent(k.share)} of kernel time
            </span>
          )}
          {k.status === "error" && <span class="cdel b">! compilation failed</span>}
          {k.status === "open" && <span class="t2">compiling</span>}
        </p>
      )}
    </header>
  );
}

const word = (by: KernelPage["by"]): string =>
  by === "run" ? "time" : by === "compile" ? "compile time" : "steps";

/** From where it came, and how. */
function Made({ k }: { k: KernelPage }) {
  const places = [...new Map(k.calls.map((call) => [call, place(call)])).values()];
  const known = new Set(rows.value.filter((r) => r.kind === "context").map((r) => r.id));
  return (
    <section class="ov-sec ov-list" data-region="Origin" aria-label="Origin">
      <div class="ov-h">
        <h3>Origin</h3>
      </div>
      <dl class="kv num kp-kv" onKeyDown={onArrows}>
        {places.length > 0 && (
          <>
            <dt>Calls</dt>
            <dd>
              {places.slice(0, 6).map((p, i) => (
                <div key={i} class="row g4" data-line>
                  {p.line > 0 ? <Place {...p} /> : <span class="mono el">{short(p.file, 80)}</span>}
                </div>
              ))}
              {places.length > 6 && <span class="t3">{count(places.length - 6)} more</span>}
            </dd>
          </>
        )}
        <dt>Compiled</dt>
        <dd data-line>
          {k.compileUs > 0 ? (
            <Go to={spanAt(k.context)} title="In the timeline">
              {millis(k.compileUs / 1000)}
            </Go>
          ) : (
            <span class="t3">not timed</span>
          )}{" "}
          {k.start > 0 && <span class="t3">at {micros(k.start)}</span>}
        </dd>
        {k.opts.length > 0 && (
          <>
            <dt>Opts</dt>
            <dd>
              <div class="mono">{short(k.opts.join(" "), 600)}</div>
              <div class="t2">{short(optsSentence(k.optWords ?? k.opts), 1000)}</div>
            </dd>
          </>
        )}
        {k.inputs.length > 0 && (
          <>
            <dt>Arguments</dt>
            <dd class="mono">
              {k.inputs.slice(0, 8).map((input, i) => (
                <div key={i} class="el" title={`${input.name}: ${count(input.size)} elements`}>
                  {short(input.name, 40)}{" "}
                  <span class="t3">
                    {short(input.dtype, 40)} × {count(input.size)}
                  </span>
                </div>
              ))}
              {k.inputs.length > 8 && <span class="t3">{count(k.inputs.length - 8)} more</span>}
            </dd>
          </>
        )}
        {k.globalSize.some((n) => n > 1) && (
          <>
            <dt>Grid</dt>
            <dd class="mono">
              {k.globalSize.join(" × ")} <span class="t3">groups of</span> {k.localSize.join(" × ")}
            </dd>
          </>
        )}
        {k.equal.length > 0 && (
          <>
            <dt>Equal</dt>
            <dd class="row wrap g4" data-line>
              {k.equal.slice(0, 8).map((context) =>
                known.has(context) ? (
                  <Go key={context} to={kernelAt(context)} class="chip mono">
                    {context}
                  </Go>
                ) : null,
              )}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
