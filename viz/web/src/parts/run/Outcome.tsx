/** What a run gave: its times as a distribution, equality, and the other runs of the kernel. */
import { capital, count, micros, plural, short, tiny } from "../../state/format";
import type { RunResult } from "../../data/messages/kernel";
import { BROWSER } from "../../data/browser";
import { kernel } from "../kernel/kernel";
import { CopyButton } from "../../ui/code/copy";
import { MarkedBars } from "../../ui/Bars";
import { Menu } from "../../ui/over/Menu";
import { histogram } from "./histogram";
import { baseOf, compared, costOf, wayWord } from "./runs";
import { deviceTitle } from "../../state/state";

interface OutcomeProps {
  r: RunResult;
  /** All runs of the kernel, the first one first. */
  runs: readonly RunResult[];
}

export function Outcome({ r, runs }: OutcomeProps) {
  const first = baseOf(r, runs);
  return (
    <Menu
      label="Result of the run"
      class="btn sm quiet runresult"
      button={
        <>
          {r.instructions === null && (
            <span class={runs.length > 1 || r.equal === false ? "xwide" : undefined}>
              <Spread us={r.us} median={r.median} width={96} height={20} />
            </span>
          )}
          <span class="num">
            <b>{costOf(r)}</b>
            {first && first !== r && <Ratio r={r} first={first} />}
            <span class="t3 xwide">
              &ensp;
              {r.instructions === null
                ? `p90 ${micros(r.p90)} · ${plural(r.us.length, "run")}`
                : "emulated: counted, not timed"}
            </span>
          </span>
          <span class={r.equal === null ? "badge" : r.equal ? "badge add" : "badge del"}>
            {verdict(r)}
          </span>
        </>
      }
    >
      {() => <Card r={r} runs={runs} />}
    </Menu>
  );
}

/** All of it as lines of text, to be sent. */
export const resultText = (r: RunResult, name: string): string =>
  [
    `${name}: ${r.equal === null ? "not compared" : r.equal ? "equal to the reference" : "DIFFERS from the reference"}`,
    `device: ${r.device}`,
    `program: ${wayWord(r)}`,
    r.instructions === null
      ? `median ${micros(r.median)}, p90 ${micros(r.p90)}, ${plural(r.us.length, "run")}`
      : plural(r.instructions, "instruction"),
    `largest error ${tiny(r.maxError)}, allowed ${tiny(r.tolerance)}; reference: ${deviceTitle(r.reference)}`,
    r.detail,
    r.device.startsWith(BROWSER) ? navigator.userAgent : "",
  ]
    .filter(Boolean)
    .join("\n");

export const verdict = ({ equal }: RunResult): string =>
  equal === null ? "not compared" : equal ? "✓ equal" : "≠ differs";

function Card({ r, runs }: OutcomeProps) {
  const h = histogram(r.us);
  return (
    <div class="pop">
      <div class="row">
        <b class="h sp">
          {r.equal === null
            ? "Not compared with the reference"
            : r.equal
              ? "Equal to the reference"
              : "Differs from the reference"}
        </b>
        <CopyButton text={resultText(r, kernel.peek()?.name ?? "")} what="result as text" />
      </div>
      <dl class="kv num">
        <dt>Device</dt>
        <dd>{r.device}</dd>
        <dt>{r.source === null ? "Opts" : "Text"}</dt>
        <dd class="mono">{short(wayWord(r), 300)}</dd>
        {r.instructions === null ? (
          <>
            <dt>Median</dt>
            <dd>{micros(r.median)}</dd>
            <dt>p90</dt>
            <dd>{micros(r.p90)}</dd>
            <dt>Runs</dt>
            <dd>{count(r.us.length)}</dd>
          </>
        ) : (
          <>
            <dt>Instructions</dt>
            <dd>
              {count(r.instructions)} <span class="t3">of all threads</span>
            </dd>
          </>
        )}
        {Object.entries(r.takes).map(([name, value]) => (
          <>
            <dt>{capital(name)}</dt>
            <dd>{value}</dd>
          </>
        ))}
        <dt>Max error</dt>
        <dd>
          {tiny(r.maxError)} <span class="t3">allowed {tiny(r.tolerance)}</span>
        </dd>
        <dt>Reference</dt>
        <dd>{deviceTitle(r.reference)}</dd>
      </dl>
      {r.instructions !== null && (
        <p class="t2">
          An emulator counts instructions: how long it takes says nothing about a GPU.
        </p>
      )}
      <div hidden={r.instructions !== null}>
        <Spread us={r.us} median={r.median} width={308} height={56} />
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
      {runs.length > 1 && <Compared runs={runs} now={r} />}
    </div>
  );
}

/** Time or instructions over those of the first run. */
function Ratio({ r, first }: { r: RunResult; first: RunResult }) {
  const said = compared(r, first);
  return (
    <span
      class={`nw ${said?.tint || "t2"}`}
      title={r.instructions === null ? ONE_AFTER_THE_OTHER : ""}
    >
      &ensp;{said?.words}
    </span>
  );
}

const ONE_AFTER_THE_OTHER =
  "Medians of runs one after the other. The workbench runs both in turn, and says how sure it is.";

export function Compared({ runs, now }: { runs: readonly RunResult[]; now: RunResult | null }) {
  return (
    <table class="compared" aria-label="Runs of this kernel">
      <thead>
        <tr>
          <th>Device</th>
          <th>Code</th>
          <th class="r">Median, or count</th>
          <th class="r">vs. first</th>
          <th>Result</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((r) => (
          <tr key={`${r.device} ${r.opts} ${r.source}`} class={r === now ? "b" : undefined}>
            <td>{r.device}</td>
            <td class="mono el" title={short(wayWord(r), 1000)}>
              {short(wayWord(r))}
            </td>
            <td class="r">{costOf(r)}</td>
            <td class="r">
              {r === baseOf(r, runs) ? "" : <Ratio r={r} first={baseOf(r, runs)!} />}
            </td>
            <td class={r.equal === null ? undefined : r.equal ? "cadd" : "cdel"} title={r.detail}>
              {verdict(r)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SpreadProps {
  us: number[];
  median: number;
  width: number;
  height: number;
}

function Spread({ us, median, width, height }: SpreadProps) {
  const { bins, from, to } = histogram(us);
  return (
    <MarkedBars
      bins={bins}
      mark={(median - from) / (to - from)}
      width={width}
      height={height}
      label={`Distribution of ${plural(us.length, "run")}, median ${micros(median)}`}
    />
  );
}
