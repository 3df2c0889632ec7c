/** What was run of this kernel here, against the original. */
import { ago } from "../../../parts/traces/ago";
import { short } from "../../../state/format";
import { bench, benches, type Bench } from "../bench";
import { isNoise, ratioOf, timesWord } from "../result/words";

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
    </section>
  );
}

function Ratio({ one }: { one: Bench }) {
  const ratio = ratioOf(one.result);
  if (ratio === null) return <span class="t3">–</span>;
  const { text, is: found } = timesWord(ratio);
  const is = isNoise(one.result) ? "same" : found;
  return (
    <span class={is === "better" ? "cadd b num" : is === "worse" ? "cmov b num" : "num"}>
      {text}
    </span>
  );
}
