/** Runs of a kernel side by side: the recorded ones, and those here with other opts and devices. */
import { runs } from "../../../parts/run/RunBox";
import { verdict } from "../../../parts/run/Outcome";
import { baseOf, compared, costOf, wayWord } from "../../../parts/run/runs";
import { useEffect } from "preact/hooks";
import { figureOf, saidOfTimes } from "../../../parts/ratio";
import { intervalOf } from "../../../parts/whatif/figures";
import { compareVariants, showVariants, variants } from "../../../parts/whatif/store";
import type { VariantRow } from "../../../data/messages/trials/whatif";
import { percent, speedOf } from "../../../parts/speed";
import { peaks } from "../../../parts/peaks";
import { data } from "../../../state/actions";
import { micros, short } from "../../../state/format";
import { run } from "../../../state/state";
import type { KernelPage } from "../../../data/messages/overview";

export function Runs({ k }: { k: KernelPage }) {
  const can = data().server !== null && (run.value?.devices.length ?? 0) > 0 && k.status === "ok";
  const made = runs.value;
  useEffect(showVariants, []);
  const kept = variants.value ?? [];
  if (!can && !k.spread && !kept.length) return null;
  const base = k.spread?.median ?? made.find((r) => r.instructions === null)?.median ?? 0;
  const over = (us: number): string => (base > 0 && us > 0 ? figureOf(us / base) : "");
  return (
    <section class="ov-sec kp-runs" data-region="Runs" aria-label="Runs">
      <div class="ov-h">
        <h3>Runs and variants</h3>
      </div>
      <table class="compared num" aria-label="Runs of this kernel">
        <thead>
          <tr>
            <th>Where</th>
            <th>Code</th>
            <th class="r">Median, or count</th>
            <th class="r">Ratio</th>
            <th class="r">Peak</th>
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {k.spread && (
            <tr>
              <td class="el">recorded{k.device && `, ${short(k.device, 20)}`}</td>
              <td class="mono">auto</td>
              <td class="r">{micros(k.spread.median)}</td>
              <td class="r">{over(k.spread.median)}</td>
              <td class="r">{k.here ? most(k, k.device, k.spread.median) : ""}</td>
              <td />
            </tr>
          )}
          {made.map((r) => (
            <tr key={`${r.device} ${r.opts} ${r.source}`}>
              <td class="el">{short(r.device, 30)}</td>
              <td class="mono el" title={short(wayWord(r), 1000)}>
                {short(wayWord(r), 60)}
              </td>
              <td class="r b" title={r.instructions === null ? undefined : COUNTED}>
                {costOf(r)}
              </td>
              <td class="r">
                {r.instructions === null ? over(r.median) : compared(r, baseOf(r, made)!)?.figure}
              </td>
              <td class="r">{r.instructions === null ? most(k, r.device, r.median) : ""}</td>
              <td class={r.equal === null ? undefined : r.equal ? "cadd" : "cdel"} title={r.detail}>
                {verdict(r)}
              </td>
            </tr>
          ))}
          {kept.map((row) => (
            <Kept key={row.number} row={row} />
          ))}
        </tbody>
      </table>
      {can && !made.length && !kept.length && (
        <p class="t3 kp-pad">
          Run the kernel with other opts or on another device to compare the results here.
        </p>
      )}
    </section>
  );
}

/** A variant that is kept beside the trace: it leads to its comparison with the recorded kernel. */
function Kept({ row: { number, variant, device, error, outcome, times } }: { row: VariantRow }) {
  return (
    <tr>
      <td class="el">
        <button
          type="button"
          class="link"
          title="Compare it with the recorded kernel, pass by pass"
          onClick={() => void compareVariants(number)}
        >
          variant {number}
        </button>
        {device && `, ${short(device, 20)}`}
      </td>
      <td class="el" title={short(variant.said, 1000)}>
        {short(variant.said, 60)}
      </td>
      <td class="r b">{times ? micros(times.new) : ""}</td>
      <td class="r" title={times ? intervalOf(times) : undefined}>
        {times ? saidOfTimes(times, outcome?.equal === true).figure : ""}
      </td>
      <td />
      <td class={error || outcome?.equal === false ? "cdel" : outcome ? "cadd" : undefined} title={error?.what ?? outcome?.said}>
        {error ? "fails" : outcome ? (outcome.equal ? "equal" : "differs") : "not run"}
      </td>
    </tr>
  );
}

const COUNTED = "Of all threads together. The time of an emulator says nothing about a GPU";

/** The larger share of the two peaks of a device: what it is limited by. */
function most(k: KernelPage, device: string, us: number): string {
  const { flopsShare, bytesShare } = speedOf(k.flops, k.bytes, us, peaks.value.get(device));
  const share = Math.max(flopsShare ?? 0, bytesShare ?? 0);
  return share > 0 ? percent(share) : "";
}
