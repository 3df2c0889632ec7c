/** The passes of a kernel as a strip in proportion to their steps; each opens in the graphs. */
import { useState } from "preact/hooks";
import { Go } from "../../../parts/Go";
import { onArrows } from "../../../parts/arrows";
import { marks } from "../../../parts/check/checks";
import { CheckMark } from "../../../parts/check/CheckMark";
import { type Mark, markWords } from "../../../parts/check/marks";
import { WholeSaid } from "../../../parts/check/WholeSaid";
import { passAt } from "../../../state/link/links";
import { count, micros, plural, short } from "../../../state/format";
import { rewriteRows } from "../../../state/state";
import type { KernelPage, KernelPass } from "../../../data/messages/overview";

/** Share of the steps from which on there is room for a name. */
const NAMED = 0.06;

/** Whether the steps of a pass are right, as far as is known. */
const markOf = (pass: KernelPass): Mark | null =>
  marks.value[rewriteRows.value.get(pass.id)?.row ?? -1] ?? null;

export function Passes({ k }: { k: KernelPage }) {
  const [listed, setListed] = useState(false);
  const steps = k.passes.reduce((sum, pass) => sum + pass.steps, 0);
  const changed = k.passes.filter((pass) => pass.steps > 0 || pass.status === "error");
  const idle = k.passes.length - changed.length;
  return (
    <section class="ov-sec kp-passes" data-region="Passes" aria-label="Passes">
      <div class="ov-h num">
        <h3>Passes</h3>
        <span class="t3 el">
          {plural(steps, "step")} in {plural(changed.length, "pass", "passes")}
          {idle > 0 && `; ${plural(idle, "other")} changed nothing`}
          {k.passesLeft > 0 && `; ${count(k.passesLeft)} left out`}
        </span>
        <span class="sp" />
        {changed.length > 0 && (
          <button
            type="button"
            class="link"
            aria-expanded={listed}
            onClick={() => setListed(!listed)}
          >
            {listed ? "Hide the list" : "List passes"}
          </button>
        )}
      </div>
      {changed.length === 0 ? (
        <p class="t3 kp-pad">No rewrites of this kernel were recorded.</p>
      ) : (
        <div class="kp-strip" onKeyDown={onArrows}>
          <div class="kp-segments" data-line>
            {changed.map((pass) => (
              <Segment key={pass.id} pass={pass} share={steps ? pass.steps / steps : 0} />
            ))}
          </div>
        </div>
      )}
      <WholeSaid kernel={k.context} class="kp-pad" />
      {listed && (
        <div class="kp-list" onKeyDown={onArrows}>
          {changed.map((pass) => (
            <div class="ov-item" data-line key={pass.id}>
              <Go to={passAt(pass.id)} class="link plain el name">
                <span style={{ paddingLeft: `${12 * Math.min(pass.depth, 6)}px` }}>
                  {short(pass.name, 120)}
                </span>
              </Go>
              <span class="sp" />
              {markOf(pass) && <CheckMark mark={markOf(pass)!} />}
              <span class="num t2 nw">{plural(pass.steps, "step")}</span>
              <span class="num t3 nw kp-us">{pass.us > 0 ? micros(pass.us) : ""}</span>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function Segment({ pass, share }: { pass: KernelPass; share: number }) {
  const mark = markOf(pass);
  const said = [
    `${short(pass.name, 300)}: ${plural(pass.steps, "step")}`,
    pass.us > 0 && micros(pass.us),
    mark && markWords(mark),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <span class="seg1" style={{ flexGrow: Math.max(1, pass.steps) }}>
      <Go
        to={passAt(pass.id)}
        class={pass.status === "error" ? "kp-seg failed" : "kp-seg"}
        title={said}
        label={said}
      >
        {share < NAMED && mark?.sign === "differs" && <CheckMark mark={mark} isNamed />}
        {share >= NAMED && (
          <>
            <span class="row">
              <span class="el">{short(pass.name, 60)}</span>
              {mark && <CheckMark mark={mark} isNamed />}
            </span>
            <span class="num t3">{count(pass.steps)}</span>
          </>
        )}
      </Go>
    </span>
  );
}
