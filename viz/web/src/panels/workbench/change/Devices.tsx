/** The same kernel on each device: median and speed; a click runs it there. */
import { digits, speedOf } from "../../../parts/speed";
import { kernel } from "../../../parts/kernel/kernel";
import { canLaunch } from "../../../parts/run/RunBox";
import { costOf } from "../../../parts/run/runs";
import { short } from "../../../state/format";
import { benchDevice } from "../data/where";
import { deviceRows, runOn } from "./devices";
import { deviceTitle } from "../../../state/state";

export function Devices() {
  const k = kernel.value;
  const list = deviceRows.value;
  return (
    <section class="card" aria-label="Devices">
      <div class="ph">
        <h3>Devices</h3>
        <span class="sp" />
        <span class="t3 small">same kernel</span>
      </div>
      {list.length ? (
        <table class="num">
          <thead>
            <tr>
              <th>Device</th>
              <th class="r">Median</th>
              <th class="r">GFLOP/s</th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ device, made }) => (
              <tr key={device} class={device === benchDevice.value?.device ? "on" : undefined}>
                <td class="el">{short(deviceTitle(device), 24)}</td>
                <td class="r">
                  {made && made.instructions === null ? (
                    <button
                      type="button"
                      class="link plain"
                      title={`${made.detail}. Run it again`}
                      disabled={!canLaunch()}
                      onClick={() => void runOn(device)}
                    >
                      {costOf(made)}
                    </button>
                  ) : made ? (
                    <span class="t2" title={`${costOf(made)} of all threads: counted, not timed`}>
                      counted
                    </span>
                  ) : (
                    <button
                      type="button"
                      class="link"
                      aria-label={`Run on ${device}`}
                      disabled={!canLaunch()}
                      onClick={() => void runOn(device)}
                    >
                      Run
                    </button>
                  )}
                </td>
                <td class="r">
                  {made && made.instructions === null && k && k.flops > 0
                    ? digits(speedOf(k.flops, k.bytes, made.median, undefined).gflops)
                    : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="wb-note">No device is known here.</p>
      )}
    </section>
  );
}
