/** What was run of this kernel here, against the original, and what is kept of it. */
import { ago } from "../../../parts/traces/ago";
import { cancelJob, canTry, compareWith, isRunning, job } from "../../../parts/whatif/store";
import { data } from "../../../state/actions";
import { short } from "../../../state/format";
import { bench, benches, canKeep, keepChange, type Bench } from "../data/bench";
import { saidOf } from "../result/words";
import { Kept } from "./Kept";

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
        <p class="wb-note">Change something and run both: results are listed here.</p>
      )}
      {data().server && (
        <div class="wb-foot wb-keep">
          <Keep />
          <Passes />
        </div>
      )}
      <Kept />
    </section>
  );
}

/** Keeps what is changed now beside the trace; below, how far that is, or why it failed. */
function Keep() {
  const j = job.value;
  return (
    <>
      {isRunning() ? (
        <button type="button" class="btn sm" onClick={cancelJob}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="btn sm"
          disabled={!canKeep()}
          title="Run it in turn with the recorded kernel, and keep it beside the trace"
          onClick={keepChange}
        >
          Keep as variant
        </button>
      )}
      {j.kind !== "idle" && (
        <span class={j.kind === "error" ? "el small cdel" : "el small t2"} role="status">
          {j.kind === "error" ? short(j.error.what, 200) : short(j.progress || j.what, 120)}
        </span>
      )}
    </>
  );
}

/** How the passes of the one that is shown differ from those of the recorded kernel. */
function Passes() {
  const how = bench.value?.how;
  if (!how || how.source !== null || !bench.value!.result.changed || !canTry()) return null;
  const { opts, skip } = how;
  return (
    <button
      type="button"
      class="btn sm"
      title="Compile it again, recorded, and show both kernels pass by pass"
      disabled={isRunning()}
      onClick={() => void compareWith({ opts, skip: [...skip] })}
    >
      Compare the passes
    </button>
  );
}

function Ratio({ one }: { one: Bench }) {
  const said = saidOf(one.result);
  if (!said) return <span class="t3">–</span>;
  return <span class={said.tint ? `${said.tint} b num` : "num"}>{said.figure}</span>;
}
