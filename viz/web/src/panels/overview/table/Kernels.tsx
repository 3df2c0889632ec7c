/** The kernels, heaviest first; each line opens the kernel's page. */
import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { onArrows } from "../../../parts/arrows";
import { canSearch, findInRun, whyNoSearch } from "../../../parts/check/bisect";
import { canCheck, check, checkOpen } from "../../../parts/check/checks";
import { CheckMark } from "../../../parts/check/CheckMark";
import { canCheckScope, subjectScopes } from "../../../parts/check/scopes";
import { Go } from "../../../parts/Go";
import { kernelAt, spansNamed } from "../../../state/link/links";
import { measure, measuring, peaks, peaksKnown } from "../../../parts/peaks";
import { digits, percent } from "../../../parts/speed";
import { data, openContext, openKernel } from "../../../state/actions";
import { count, micros, place, short, tellingParts } from "../../../state/format";
import { isReference, kernelCount, rows, run } from "../../../state/state";
import { CutMiddle } from "../../../ui/CutMiddle";
import { SortHead } from "../../../ui/SortHead";
import { devicesOf, isCopy, type ColumnKey, type Line } from "../data/columns";
import { list, overviewLink } from "../data/link";
import { Passes } from "./Passes";
import { columns, FEW_KERNELS, kernels, overview, steadyList } from "../data/store";
import { SpreadBars } from "./Spread";

/** Kernels that are drawn at once when all are asked for; more on demand. */
const MOST = 300;

/** Columns from which on a small window has no room for the histograms. */
const MANY = 9;

export function Kernels() {
  const o = overview.value;
  if (!o) return null;
  const all = kernels.value;
  if (!all.length && !run.value?.live && (run.value?.totals.rewrites ?? 0) > 0) return <Passes />;
  if (!all.length)
    return (
      <section class="ov-sec" data-region="Kernels" aria-label="Kernels">
        <div class="ov-h">
          <h3>Kernels</h3>
        </div>
        <div class="state">
          {run.value?.live
            ? "No kernel has been compiled yet. Kernels appear here as they are compiled."
            : "This run compiled no kernel."}
        </div>
      </section>
    );
  const open = overviewLink.value.all;
  const shown = all.slice(0, open ? MOST : FEW_KERNELS);
  const more = all.length - FEW_KERNELS;
  const template = columns.value.map((c) => c.width).join(" ");
  return (
    <section
      class={`ov-sec ov-kernels grid-list${columns.value.length >= MANY ? " many" : ""}`}
      data-region="Kernels"
      aria-label="Kernels"
      style={{ "--cols": template }}
    >
      <div class="ov-h">
        <h3>Kernels</h3>
        <span class="t3 el">{heading(o.by)}</span>
        <span class="sp" />
        <Checks />
        <Measure />
      </div>
      <SortHead
        columns={columns.value}
        order={overviewLink.value.order || "-time"}
        onOrder={(order) => list({ order })}
      />
      <div onKeyDown={onArrows} class="ov-rows" {...steadyList("kernels")}>
        {shown.map((line) => (
          <Row key={line.key} line={line} />
        ))}
      </div>
      {(more > 0 || o.kernelsLeft > 0) && (
        <div class="ov-more">
          {more > 0 && (
            <button type="button" class="link num" onClick={() => list({ all: !open })}>
              {open ? `Show the first ${FEW_KERNELS}` : `Show ${count(more)} more`}
            </button>
          )}
          {open && all.length > MOST && (
            <span class="t3 num">
              The first {count(MOST)} of {kernelCount(all.length)} are listed. Sort by another
              column to see others.
            </span>
          )}
          {o.truncated && <span class="t3 el">{o.truncated}</span>}
        </div>
      )}
    </section>
  );
}

const heading = (by: "run" | "compile" | "steps"): string =>
  by === "run" ? "by time" : by === "compile" ? "never launched; by compile time" : "by steps";

/** Whether its compilation is in the run. Of others there are only launches. */
const isRecorded = (line: Line): boolean => line.context >= 0;

const COPY = "Copies of memory from one device to the other: there is no kernel";
const NOT_RECORDED = "Compiled before recording started: only its launches are known";

const LONGEST = 300;
const nameOf = (line: Line): string => short(line.name, LONGEST);
const callsOf = (line: Line): string => short(line.calls || line.name, LONGEST);
/** Where names of the list begin to differ. */
const telling = computed(
  () => new Map([nameOf, callsOf].flatMap((of) => [...tellingParts(kernels.value.map(of))])),
);

/** What a row is called: it leads to the page of its kernel, where there is one. */
function Title({ line, text, mono = false }: { line: Line; text: string; mono?: boolean }) {
  const style = `plain b el${mono ? " mono" : ""}`;
  return isRecorded(line) ? (
    <Go to={kernelAt(line.context)} class={`link ${style}`} title={title(line)}>
      <CutMiddle text={text} from={telling.value.get(text)} />
    </Go>
  ) : (
    <span class={style} title={`${title(line)}. ${isCopy(line) ? COPY : NOT_RECORDED}.`}>
      <CutMiddle text={text} from={telling.value.get(text)} />
      {!isCopy(line) && <span class="t3 small"> not recorded</span>}
    </span>
  );
}

function Row({ line }: { line: Line }) {
  return (
    <div
      class="ov-row"
      data-line
      onClick={() => {
        if (isRecorded(line)) openKernel(line.context);
      }}
    >
      {columns.value.map(({ key }) => (
        <Cell key={key} of={key} line={line} />
      ))}
    </div>
  );
}

function Cell({ of, line }: { of: ColumnKey; line: Line }): ComponentChildren {
  switch (of) {
    case "calls": {
      const at = place(line.place);
      return (
        <span class="row g4">
          <Title line={line} text={isCopy(line) ? "copy" : callsOf(line)} />
          {at.line > 0 && <span class="t3 small nw">:{at.line}</span>}
          <Status line={line} />
        </span>
      );
    }
    case "name": {
      const first = columns.value[0]?.key === "name";
      return (
        <span class="row g4">
          {first ? (
            <Title line={line} text={nameOf(line)} mono />
          ) : (
            <span class="mono el t2" title={short(line.name, 1000)}>
              <CutMiddle text={nameOf(line)} from={telling.value.get(nameOf(line))} />
            </span>
          )}
          {line.equal > 1 && (
            <span class="badge num" title={`${count(line.equal)} equal kernels`}>
              ×{count(line.equal)}
            </span>
          )}
          {first && <Status line={line} />}
        </span>
      );
    }
    case "check":
      return <span class="r">{line.check && <CheckMark mark={line.check} />}</span>;
    case "devices":
      return (
        <span class="el t2" title={short(devicesOf(line), 1000)}>
          {short(devicesOf(line), 80)}
        </span>
      );
    case "launches":
      return (
        <span class="num r">
          {line.launches > 0 && (
            <Go
              to={spansNamed(line.name)}
              class="link plain"
              inner
              title="Its launches in the timeline"
            >
              {count(line.launches)}
            </Go>
          )}
        </span>
      );
    case "time":
      return (
        <span class="num r ov-time">
          {line.time > 0 && (
            <>
              <span class="b">{micros(line.time)}</span>
              <span class="t3 pc">{percent(line.share)}</span>
              <i class="ov-bar" aria-hidden="true">
                <b style={{ width: `${100 * line.share}%` }} />
              </i>
            </>
          )}
        </span>
      );
    case "spread":
      return (
        <span class="num r ov-spread">
          {line.spread && (
            <>
              <SpreadBars spread={line.spread} width={44} height={16} />
              <span class="t2">{micros(line.spread.median)}</span>
            </>
          )}
        </span>
      );
    case "flops":
      return <Rate giga={line.speed.gflops} share={line.speed.flopsShare} />;
    case "bytes":
      return <Rate giga={line.speed.gbytes} share={line.speed.bytesShare} />;
    case "regs":
      return (
        <span class="num r t2">
          {line.registers[0] && (
            <span title={line.registers.map((r) => `${r.target}: ${r.value}`).join(", ")}>
              {short(line.registers[0].value, 8)}
            </span>
          )}
        </span>
      );
    case "steps":
      return (
        <span class="num r">
          {isRecorded(line) && (
            <button
              type="button"
              class="link plain"
              tabIndex={-1}
              title="Its passes in the graphs"
              onClick={(e) => {
                e.stopPropagation();
                const row = rows.peek().find((r) => r.kind === "context" && r.id === line.context);
                if (row) openContext(row.row);
              }}
            >
              {count(line.steps)}
            </button>
          )}
        </span>
      );
  }
}

/** Whether shares of the machine's peaks stand behind speeds: else these end where their heads do. */
const hasShares = computed(() =>
  kernels.value.some((l) => l.speed.flopsShare !== null || l.speed.bytesShare !== null),
);

function Rate({ giga, share }: { giga: number; share: number | null }) {
  return (
    <span class="num r ov-rate">
      {giga > 0 && (
        <>
          <span class="t2">{digits(giga)}</span>
          {hasShares.value && <span class="t3 pc">{share === null ? "" : percent(share)}</span>}
        </>
      )}
    </span>
  );
}

function Status({ line }: { line: Line }) {
  if (line.status === "error")
    return (
      <span class="sig del" role="img" aria-label="failed">
        !
      </span>
    );
  return line.status === "open" ? <span class="dot" role="img" aria-label="running" /> : null;
}

const title = (line: Line): string =>
  `${short(line.calls || line.name, 500)}${line.place ? ` (${short(line.place, 300)})` : ""}`;

/** Checks the run from here; the result is in the control of checks, which opens. */
function Checks() {
  const scope = subjectScopes.value[0];
  return (
    <>
      {scope && !scope.whole && canCheckScope(scope) && (
        <button
          type="button"
          class="link nw"
          disabled={!canCheck()}
          onClick={() => {
            checkOpen.value = true;
            void check(scope.what, scope.name, scope.of);
          }}
        >
          Check this run
        </button>
      )}
      {scope && whyNoSearch() === null && (
        <button
          type="button"
          class="link nw"
          disabled={!canSearch()}
          onClick={() => void findInRun()}
        >
          Which step is wrong?
        </button>
      )}
    </>
  );
}

/** Offers to measure the machine where shares of its peaks could be shown and are not known. */
function Measure() {
  const o = overview.value!;
  const device = o.devices.find((name) => run.value?.devices.includes(name));
  if (!o.here || !data().server || device === undefined || isReference(device)) return null;
  if (!peaksKnown.value) return null;
  const peak = peaks.value.get(device);
  if (measuring.value !== null)
    return (
      <span class="t3 el" role="status">
        {measuring.value}
      </span>
    );
  return (
    <span class="row g4 t3 num">
      {peak && (
        <span class="mid" title={`${short(peak.processor, 200)}, measured ${peak.measured}`}>
          {device} peak {digits(peak.flops / 1e9)} GFLOP/s, {digits(peak.bytes / 1e9)} GB/s
        </span>
      )}
      <button
        type="button"
        class="link"
        title="Runs two small benchmark kernels for a few seconds, to show speeds as shares of this machine's peak"
        onClick={() => void measure(device)}
      >
        {peak ? "Measure again" : "Measure this machine"}
      </button>
    </span>
  );
}
