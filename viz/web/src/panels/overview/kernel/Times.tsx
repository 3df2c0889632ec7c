/** How long a launch took, and what that is of what the machine can do. */
import { Go } from "../../../parts/Go";
import { spansNamed } from "../../../state/link/links";
import { measure, measuring, peaks, peaksKnown } from "../../../parts/peaks";
import { digits, percent, scaled, speedOf } from "../../../parts/speed";
import { data } from "../../../state/actions";
import { bytes, count, micros, short } from "../../../state/format";
import { isReference, run } from "../../../state/state";
import type { KernelPage } from "../../../data/messages/overview";
import { SpreadBars } from "../table/Spread";
import { peakOf } from "./store";

export function Times({ k }: { k: KernelPage }) {
  const s = k.spread;
  const speed = speedOf(k.flops, k.bytes, s?.median, peakOf(k));
  if (!s && !k.flops && !k.bytes) return null;
  return (
    <section class="ov-sec kp-times" data-region="Times" aria-label="Times">
      <div class="ov-h">
        <h3>Time per launch</h3>
        <span class="sp" />
        <Measure k={k} />
      </div>
      {s && (
        <div class="kp-pad">
          <div class="row">
            <Go
              to={spansNamed(k.name)}
              class="link plain big-number num"
              title="Its launches in the timeline"
            >
              {micros(s.median)}
            </Go>
            <span class="t2 num">
              median
              <br />
              <span class="t3">p90 {micros(s.p90)}</span>
            </span>
            <span class="sp" />
            <SpreadBars spread={s} width={132} height={32} />
          </div>
          <div class="row t3 small num">
            <span>fastest {micros(s.low)}</span>
            <span class="sp" />
            <span>
              {s.beyond > 0 && `${count(s.beyond)} slower, up to `}
              {s.beyond > 0 ? micros(s.high) : `slowest ${micros(s.high)}`}
            </span>
          </div>
        </div>
      )}
      <dl class="kp-rates num">
        {k.flops > 0 && (
          <Rate
            name="GFLOP/s"
            value={s ? digits(speed.gflops) : ""}
            share={speed.flopsShare}
            said={`${scaled(k.flops)}FLOP`}
            title={`${count(k.flops)} floating-point operations per launch`}
          />
        )}
        {k.bytes > 0 && (
          <Rate
            name="GB/s"
            value={s ? digits(speed.gbytes) : ""}
            share={speed.bytesShare}
            said={bytes(k.bytes)}
            title={`${count(k.bytes)} bytes of arguments`}
          />
        )}
      </dl>
      {k.flops > 0 && k.bytes > 0 && (
        <p class="t3 small num kp-pad">
          {digits(k.flops / k.bytes)} FLOP per byte{bound(k)}
        </p>
      )}
    </section>
  );
}

/** What the machine's peaks say limits it (roofline model, Williams et al. 2009). */
function bound(k: KernelPage): string {
  const peak = peakOf(k);
  if (!peak) return "";
  const balance = peak.flops / peak.bytes;
  const by = k.flops / k.bytes > balance ? "compute" : "memory";
  return `, machine balance ${digits(balance)}: ${by}-bound`;
}

interface RateProps {
  name: string;
  value: string;
  share: number | null;
  said: string;
  title: string;
}

function Rate({ name, value, share, said, title }: RateProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        {share !== null && (
          <>
            <i class="ov-bar" aria-hidden="true">
              <b style={{ width: `${Math.min(100, 100 * share)}%` }} />
            </i>
            <span class="t2">{percent(share)} of peak</span>
          </>
        )}
        <span class="sp" />
        <span class="t3 small" title={title}>
          {said}
        </span>
      </dd>
    </>
  );
}

/** Offers to measure the machine where its peaks are not known. */
function Measure({ k }: { k: KernelPage }) {
  const can = k.here && data().server !== null && run.value?.devices.includes(k.device);
  if (!can || isReference(k.device) || !k.spread || (!k.flops && !k.bytes)) return null;
  if (!peaksKnown.value) return null;
  if (measuring.value !== null)
    return (
      <span class="t3 el" role="status">
        {measuring.value}
      </span>
    );
  const peak = peaks.value.get(k.device);
  return peak ? (
    <span class="t3 num el" title={`${short(peak.processor, 200)}, measured ${peak.measured}`}>
      peak {digits(peak.flops / 1e9)} GFLOP/s, {digits(peak.bytes / 1e9)} GB/s
    </span>
  ) : (
    <button type="button" class="link" onClick={() => void measure(k.device)}>
      Measure this machine
    </button>
  );
}
