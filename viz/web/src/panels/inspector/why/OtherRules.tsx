/** What became of the other rules of the pass at the node: the nearest ones, each a question of its own. */
import { walkButtons } from "../../../parts/walkButtons";
import { count } from "../../../state/format";
import { view } from "../../../state/state";
import { choicesFor } from "./data/choices";
import { openChooser } from "./commands";
import { ask, whyLink } from "./data/link";
import { watchedRules } from "./data/store";
import { useHeld } from "./answer/useHeld";
import { WhySign } from "./answer/WhySign";

/** As many as fit beside an answer. */
const FEW = 6;

export function OtherRules() {
  const { value } = useHeld(watchedRules.answer.value, view.value.slot);
  if (!value?.known) return null;
  const groups = choicesFor(value, new Set(), new Map(), "");
  const others = groups.flatMap((g) => g.items).filter((c) => c.rule !== whyLink.value.rule);
  if (!others.length) return null;
  return (
    <div class="sec">
      <h3>
        Other rules at this node
        <span class="sp" />
        <span class="num">
          {count(Math.min(FEW, others.length))} of {count(others.length)}
        </span>
      </h3>
      <ul class="why-others" aria-label="Other rules at this node" onKeyDown={walkButtons}>
        {others.slice(0, FEW).map((c) => (
          <li key={c.rule}>
            <button
              type="button"
              class="why-rule"
              title={`${c.title}: ${c.detail}`}
              onClick={() => ask({ rule: c.rule })}
            >
              <WhySign sign={c.sign} />
              <span class="mono b el">{c.title}</span>
              <span class="t2 el">{c.detail}</span>
            </button>
          </li>
        ))}
      </ul>
      {others.length > FEW && (
        <button type="button" class="link" onClick={openChooser}>
          All rules
        </button>
      )}
    </div>
  );
}
