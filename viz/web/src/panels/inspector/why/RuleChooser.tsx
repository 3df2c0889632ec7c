/** The rules that can be asked about, searched by name: a field and a list, as in the palette. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asProblem } from "../../../data/backend";
import { go } from "../../../state/actions";
import { count } from "../../../state/format";
import { firings, rules, view } from "../../../state/state";
import { Highlight } from "../../../ui/Highlight";
import { Icon } from "../../../ui/Icon";
import { choicesFor } from "./data/choices";
import { ask, whyLink } from "./data/link";
import { choosing, watchedRules } from "./data/store";
import { useHeld } from "./answer/useHeld";
import { WhySign } from "./answer/WhySign";

export function RuleChooser() {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const { value: here } = useHeld(watchedRules.answer.value, view.value.slot);
  const fired = firings.value;
  const all = rules.value;
  const groups = useMemo(
    () => choicesFor(here, new Set(fired.keys()), all, query),
    [here, fired, all, query],
  );
  const flat = groups.flatMap((g) => g.items);
  const chosen = Math.min(at, flat.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen, query]);
  const pick = (rule: number | undefined): void => {
    if (rule === undefined) return;
    choosing.value = false;
    ask({ rule });
    focusAnswer();
  };
  const leave = (): void => {
    choosing.value = false;
    if (whyLink.peek().rule === null) go({ tab: "step" }, "replace");
    else focusAnswer();
  };
  const problem = watchedRules.error.value;
  let index = -1;
  return (
    <div class="sec why-choose">
      <label class="field">
        <Icon name="search" />
        <input
          id="why-rule"
          role="combobox"
          aria-expanded="true"
          aria-controls="why-rules"
          aria-activedescendant={chosen >= 0 ? `why-rule-${chosen}` : undefined}
          aria-label="Rule that did not fire"
          placeholder="Rule that did not fire"
          spellcheck={false}
          value={query}
          onInput={(e) => {
            setQuery(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(e) => {
            const count = Math.max(1, flat.length);
            if (e.key === "ArrowDown") setAt((chosen + 1) % count);
            else if (e.key === "ArrowUp") setAt((chosen - 1 + count) % count);
            else if (e.key === "Enter") pick(flat[chosen]?.rule);
            else if (e.key === "Escape") leave();
            else return;
            e.preventDefault();
            e.stopPropagation();
          }}
        />
      </label>
      {problem && (
        <p class="t2 small" role="alert">
          {asProblem(problem, "").what}. {problem.hint}
        </p>
      )}
      <div class="why-rules" id="why-rules" role="listbox" aria-label="Rules" ref={list}>
        {!flat.length && (
          <div class="t2" role="status">
            {query ? "No rule has this in its name." : "The run has no rules."}
          </div>
        )}
        {groups.map((g) => (
          <div key={g.name} role="group" aria-label={g.name}>
            <div class="grp">{g.name}</div>
            {g.items.map((item) => {
              index += 1;
              const mine = index;
              return (
                <div
                  key={item.rule}
                  id={`why-rule-${mine}`}
                  class="it"
                  role="option"
                  aria-selected={mine === chosen}
                  title={`${item.title}: ${item.detail}`}
                  onPointerMove={() => mine !== chosen && setAt(mine)}
                  onClick={() => pick(item.rule)}
                >
                  <WhySign sign={item.sign} />
                  <span class="mono b el">
                    <Highlight text={item.title} query={query} />
                  </span>
                  <span class="t3 el">{item.detail}</span>
                </div>
              );
            })}
            {g.left > 0 && <div class="t3 small">{count(g.left)} more: type part of a name</div>}
          </div>
        ))}
        {here?.leftOut && <div class="t3 small">{here.leftOut}</div>}
      </div>
    </div>
  );
}

/** The answer takes the focus, so that Tab goes on in it. */
export function focusAnswer(): void {
  requestAnimationFrame(() => document.getElementById("why-answer")?.focus());
}
