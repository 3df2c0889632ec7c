/**
 * Both sides under the roof of the machine: operations per second over operations per byte, both on
 * logarithmic scales (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
 */
import { measure, measuring, peaks, peaksKnown } from "../../../parts/peaks";
import { digits, percent } from "../../../parts/speed";
import { kernel } from "../../../parts/kernel/kernel";
import type { Peak } from "../../../data/messages/kernel";
import { short } from "../../../state/format";
import { bench } from "../data/bench";
import { benchDevice } from "../data/where";

const WIDTH = 340;
const HEIGHT = 96;
const LEFT = 34;
const BOTTOM = 16;

export function Roofline() {
  const device = bench.value?.result.device ?? benchDevice.value?.device ?? null;
  const peak = device === null ? undefined : peaks.value.get(device);
  const emulated = device !== null && device.endsWith("EMU");
  return (
    <section class="card wb-roof" aria-label="Roofline">
      <div class="ph">
        <h3>Roofline</h3>
        <span class="sp" />
        {peak && (
          <span
            class="t3 small el num"
            title={`${short(peak.processor, 200)}, measured ${peak.measured}`}
          >
            peak {digits(peak.flops / 1e9)} GFLOP/s, {digits(peak.bytes / 1e9)} GB/s
          </span>
        )}
      </div>
      {peak ? (
        <Plot peak={peak} />
      ) : (
        <p class="wb-note row">
          {emulated ? (
            "An emulator has no speed of its own."
          ) : measuring.value !== null ? (
            <span role="status">{measuring.value}</span>
          ) : device !== null && peaksKnown.value ? (
            <>
              <span>What {short(device, 20)} can do is not measured yet.</span>
              <button type="button" class="btn sm" onClick={() => void measure(device)}>
                Measure
              </button>
            </>
          ) : (
            "It needs the measured peaks of a device of this machine."
          )}
        </p>
      )}
    </section>
  );
}

function Plot({ peak }: { peak: Peak }) {
  const k = kernel.value;
  const found = bench.value?.result ?? null;
  const flops = found?.flops ?? k?.flops ?? 0;
  const moved = found?.bytes ?? k?.bytes ?? 0;
  if (!flops || !moved) return <p class="wb-note">This kernel has no floating-point operations.</p>;
  const intensity = flops / moved;
  const ridge = peak.flops / peak.bytes;
  const roof = Math.min(peak.flops, peak.bytes * intensity);
  const points = found?.times
    ? [
        { name: "original", class: "old", at: flops / (found.times.original.median / 1e6) },
        { name: "edited", class: "new", at: flops / (found.times.edited.median / 1e6) },
      ]
    : [];
  const x0 = Math.log10(Math.min(intensity, ridge)) - 0.7;
  const x1 = Math.log10(Math.max(intensity, ridge)) + 0.7;
  const y1 = Math.log10(peak.flops) + 0.25;
  const y0 = Math.min(y1 - 2, ...points.map((point) => Math.log10(point.at) - 0.3));
  const x = (n: number): number => LEFT + ((Math.log10(n) - x0) / (x1 - x0)) * (WIDTH - LEFT - 8);
  const y = (n: number): number =>
    HEIGHT - BOTTOM - ((Math.log10(n) - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - 4);
  const left = 10 ** x0;
  const start = Math.max(left, 10 ** y0 / peak.bytes);
  const reached = points.at(-1);
  return (
    <>
      <svg
        class="wb-plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Roofline: ${points
          .map((point) => `${point.name} reaches ${percent(point.at / roof)}`)
          .join(", ")} of ${digits(roof / 1e9)} GFLOP/s`}
      >
        {powers(y0, y1).map((n) => (
          <g key={n}>
            <path class="grid" d={`M${LEFT} ${y(n)}H${WIDTH - 8}`} />
            <text x={LEFT - 4} y={y(n) + 3} text-anchor="end">
              {plain(n / 1e9)}
            </text>
          </g>
        ))}
        {powers(x0, x1).map((n) => (
          <text key={n} x={x(n)} y={HEIGHT - 3} text-anchor="middle">
            {plain(n)}
          </text>
        ))}
        <path
          class="roof"
          d={`M${x(start)} ${y(peak.bytes * start)}L${x(ridge)} ${y(peak.flops)}H${WIDTH - 8}`}
        />
        <path class="here" d={`M${x(intensity)} ${y(roof)}V${HEIGHT - BOTTOM}`} />
        {points.map((point) => (
          <circle key={point.name} class={point.class} cx={x(intensity)} cy={y(point.at)} r="4" />
        ))}
      </svg>
      <p class="t3 small num wb-caption">
        GFLOP/s over FLOP per byte; {digits(intensity)} FLOP per byte, bound by{" "}
        {intensity < ridge ? "memory" : "arithmetic"}
        {reached && `; edited reaches ${percent(reached.at / roof)} of the roof`}
      </p>
    </>
  );
}

/** A power of ten: "0.1", "1", "1,000". */
const plain = (n: number): string => Number(n.toPrecision(1)).toLocaleString("en");

/** Powers of ten between two exponents. */
function powers(from: number, to: number): number[] {
  const out: number[] = [];
  for (let n = Math.ceil(from); n <= to; n += 1) out.push(10 ** n);
  return out.length > 4 ? out.filter((_, i) => i % 2 === 0) : out;
}
