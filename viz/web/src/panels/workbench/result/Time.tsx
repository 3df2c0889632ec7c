/** How long both take: the ratio with its interval, and two distributions on one axis. */
import { count, micros, plural } from "../../../state/format";
import { intervalWords } from "../../../parts/ratio";
import { ticks, together } from "../../../parts/run/histogram";
import type { BenchTimes } from "../../../data/messages/trials/workbench";
import { Bars } from "../../../ui/Bars";
import { bench, isStale, state } from "../data/bench";
import { whyNot } from "../data/where";
import { saidOf } from "./words";

export function Time() {
  const found = bench.value?.result ?? null;
  const s = state.value;
  return (
    <section class="card wb-time" aria-label="Time, edited over original">
      <div class="ph">
        <h3 class="nw">{found && !found.times ? "Instructions" : "Time"}, edited over original</h3>
        <span class="sp" />
        {s.kind !== "running" && isStale.value && (
          <span class="badge mov" title="Run both again to see what the change does">
            ◆ changed since
          </span>
        )}
        <span class="t3 small el">
          {found?.times ? `${plural(found.times.turns, "pair")}, in turn` : ""}
        </span>
        {s.kind === "running" && (
          <div class="progress">
            <i class="any" />
          </div>
        )}
      </div>
      <div class="wb-pad wb-ratio">
        {s.kind === "running" ? (
          <span class="t2" role="status">
            {s.progress}
          </span>
        ) : s.kind === "error" ? (
          <div role="alert">
            <b class="cdel">{s.error.what}</b>
            <div class="mono">{s.error.where}</div>
            <div class="t2">{s.error.hint}</div>
          </div>
        ) : found ? (
          <Ratio />
        ) : (
          <span class="t2">
            {whyNot.value ||
              "Run both: the original and the edited kernel run in turn on the same inputs."}
          </span>
        )}
        <div class="wb-dists">
          {s.kind === "idle" && found?.times && <Distributions times={found.times} />}
        </div>
      </div>
    </section>
  );
}

function Ratio() {
  const { result } = bench.value!;
  const said = saidOf(result);
  if (!said) return <span class="t2">Neither was timed.</span>;
  const t = result.times;
  return (
    <div class="row wb-big">
      <span class={`big num ${said.tint}`}>{said.figure}</span>
      <span class="t2">
        {result.changed ? said.words : "nothing was changed"}
        {t ? (
          <span class="t3 num">
            95% interval {intervalWords(t)}
          </span>
        ) : (
          <span class="t3">an emulator counts, it does not time</span>
        )}
      </span>
    </div>
  );
}

const WIDTH = 340;
const HEIGHT = 34;
const BOTTOM = 16;

function Distributions({ times }: { times: BenchTimes }) {
  const sides = [
    { name: "original", spread: times.original, class: "old" },
    { name: "edited", spread: times.edited, class: "new" },
  ];
  const made = together(sides.map((side) => side.spread.us));
  const [first] = made;
  if (!first) return null;
  const { from, to } = first;
  const at = (us: number): number => ((us - from) / (to - from)) * (WIDTH - 76);
  return (
    <svg
      class="wb-hist"
      viewBox={`0 0 ${WIDTH} ${2 * HEIGHT + 12 + BOTTOM}`}
      role="img"
      aria-label={sides
        .map((side) => `${side.name}: median ${micros(side.spread.median)}`)
        .join(", ")}
    >
      {made.map((h, side) => {
        const { name, spread, class: kind } = sides[side]!;
        const base = (side + 1) * (HEIGHT + 6);
        return (
          <g key={name} class={kind}>
            <path class="base" d={`M0 ${base + 0.5}H${WIDTH - 76}`} />
            <Bars bins={h.bins} width={WIDTH - 76} height={HEIGHT} base={base} />
            <text x={WIDTH} y={base - 16} text-anchor="end" class="value">
              {micros(spread.median)}
            </text>
            <text x={WIDTH} y={base - 4} text-anchor="end">
              {name}
            </text>
            {h.beyond > 0 && (
              <text x={WIDTH - 80} y={base - HEIGHT + 10} text-anchor="end">
                {count(h.beyond)} slower ›
              </text>
            )}
          </g>
        );
      })}
      {ticks(from, to, 3).map((us) => (
        <text
          key={us}
          x={Math.max(0, at(us))}
          y={2 * HEIGHT + 12 + BOTTOM - 3}
          text-anchor={at(us) < 16 ? "start" : "middle"}
        >
          {micros(us)}
        </text>
      ))}
    </svg>
  );
}
