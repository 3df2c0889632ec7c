/** What was run of this kernel here, against the original. */
import { isNoise, timesWord, TINTS } from "../../../parts/ratio";
import { ago } from "../../../parts/traces/ago";
import { canTry, compareWith, isRunning } from "../../../parts/whatif/store";
import { short } from "../../../state/format";
import { bench, benches, type Bench } from "../bench";
import { ratioOf } from "../result/words";

export function Variants() {
  const list = benches.value;
  return (
    <section class="card wb-variants" aria-label="Variants">
      <div class="ph">
        <h3>Variants</h3>
        <span class="sp" />
        <span class="t3 small">over original</span>
      </div>
      {list.length ? (
        <ul class="wb-list">
          {list.map((one) => (
            <li key={one.at}>
              <button
                type="button"
                class="wb-variant"
                aria-pressed={one === bench.value}
                title={one.title}
                onClick={() => (bench.value = one)}
              >
                <span class="el sp">{short(one.title, 80)}</span>
                <span class="t3 small nw">{ago(new Date(one.at).toISOString())}</span>
                <Ratio one={one} />
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <p class="wb-note">Change something and run both: the results are kept here.</p>
      )}
      <Passes />
    </section>
  );
}

/** How the passes of the one that is shown differ from those of the recorded kernel. */
function Passes() {
  const how = bench.value?.how;
  if (!how || how.source !== null || !bench.value!.result.changed || !canTry()) return null;
  const { opts, skip } = how;
  return (
    <div class="wb-foot wb-passes">
      <button
        type="button"
        class="btn sm"
        title="Compile it again, recorded, and show both kernels pass by pass"
        disabled={isRunning()}
        onClick={() => void compareWith({ opts, skip: [...skip] })}
      >
        Compare the passes
      </button>
    </div>
  );
}

function Ratio({ one }: { one: Bench }) {
  const ratio = ratioOf(one.result);
  if (ratio === null) return <span class="t3">–</span>;
  const { text, is } = timesWord(ratio);
  const tint = isNoise(one.result.times) ? "" : TINTS[is];
  return <span class={tint ? `${tint} b num` : "num"}>{text}</span>;
}
