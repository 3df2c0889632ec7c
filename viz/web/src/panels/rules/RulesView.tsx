/** Which rules cost, and which never match: per rule, or per rule and pass, in a table that sorts
 * and searches. */
import { count, micros, place, plural, short } from "../../state/format";
import { onSearchKeys } from "../../state/regions";
import { rules } from "../../state/state";
import { RuleText } from "../../parts/rule/RuleText";
import { Highlight } from "../../ui/Highlight";
import { Icon } from "../../ui/Icon";
import { SortHead } from "../../ui/SortHead";
import { Place } from "../../ui/code/Text";
import { VirtualList } from "../../ui/VirtualList";
import { meanOf, REST, REST_NAME, REST_TITLE, shareOf, whyNever, type Cost } from "./data/costs";
import {
  chosen,
  chosenCost,
  columns,
  costs,
  counted,
  cursor,
  lastPass,
  listed,
  order,
  passNames,
  ruleTotals,
  showSteps,
  triesKnown,
  watchedTotals,
} from "./data/store";
import { openPassRules, openRule, rulesLink, list } from "./data/link";
import { RulePage } from "./page/RulePage";
import { PassRules } from "./pass/PassRules";
import { Sums } from "./data/Sums";

const LINE = 28;

export function RulesView() {
  const { of, inPass } = rulesLink.value;
  if (of !== null) return <RulePage key={of} id={of} />;
  if (inPass !== null) return <PassRules key={inPass} id={inPass} />;
  return (
    <main class={chosenCost.value ? "rv two" : "rv"} aria-label="What rules cost">
      <section class="grid-list rulelist" data-region="Rules" aria-label="Rules">
        <Tools />
        <SortHead columns={columns.value} order={order.value} onOrder={(sort) => list({ sort })} />
        <List />
        <Sums />
      </section>
      <Chosen />
    </main>
  );
}

function Tools() {
  const v = rulesLink.value;
  const t = ruleTotals.value;
  const pass = lastPass.value;
  return (
    <div class="ph">
      <b class="mid nw">What rules cost</b>
      <label class="field find">
        <Icon name="search" />
        <input
          id="rule-search"
          type="search"
          placeholder="Rule, file or pass"
          aria-label="Search the rules"
          spellcheck={false}
          value={v.query}
          aria-controls="rules-list"
          aria-activedescendant={cursor.value === null ? undefined : `rules-list-${cursor.value}`}
          onInput={(e) => search(e.currentTarget.value)}
          onKeyDown={onSearchKeys("rules-list", v.query, () => search(""))}
        />
        <kbd>/</kbd>
      </label>
      <span class="seg" role="group" aria-label="Lines">
        <button type="button" aria-pressed={!v.perPass} onClick={() => list({ perPass: false })}>
          All passes
        </button>
        <button type="button" aria-pressed={v.perPass} onClick={() => list({ perPass: true })}>
          Per pass
        </button>
      </span>
      <select
        class="btn pass-choice"
        aria-label="Pass"
        title="Only what rules did in one pass"
        value={v.pass ?? ""}
        onChange={(e) => list({ pass: e.currentTarget.value || null })}
      >
        <option value="">Any pass</option>
        {passChoices(v.pass).map((name) => (
          <option key={name} value={name}>
            {short(name)}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="btn"
        aria-pressed={v.never}
        disabled={!triesKnown.value}
        title={
          triesKnown.value
            ? "Only rules that were tried and never matched"
            : "This trace does not record which rules were tried"
        }
        onClick={() => list({ never: !v.never })}
      >
        Never matched
      </button>
      <button
        type="button"
        class="btn"
        disabled={!pass}
        title={
          pass
            ? `What the rules of ${short(pass.name, 60)}, the pass that you looked at last, took in it alone`
            : "No pass has been looked at"
        }
        onClick={() => pass && openPassRules(pass.id)}
      >
        This pass alone
      </button>
      <span class="sp" />
      {t && !counted.value && (
        <span class="t3 num nw" role="status">
          Counting nodes: {Math.floor((100 * t.counted) / Math.max(1, t.steps))}%
          <span class="progress">
            <i style={{ width: `${(100 * t.counted) / Math.max(1, t.steps)}%` }} />
          </span>
        </span>
      )}
      <span class="t3 num nw">
        {plural(costs.value.filter((c) => c.id !== REST).length, v.perPass ? "line" : "rule")}
      </span>
    </div>
  );
}

/** Lists what has `query`; what is found first is what Enter opens. */
function search(query: string): void {
  cursor.value = null;
  list({ query });
}

/** The passes there are, and the chosen one even if it is not there. */
function passChoices(chosenPass: string | null): readonly string[] {
  const names = passNames.value;
  return chosenPass === null || names.includes(chosenPass) ? names : [chosenPass, ...names];
}

function List() {
  const problem = watchedTotals.error.value;
  const all = listed.value;
  const v = rulesLink.value;
  const most = costs.value.reduce((m, c) => Math.max(m, c.id === REST ? 0 : barOf(c)), 0);
  if (problem)
    return (
      <div class="state" role="alert">
        <div class="h">{problem.what}</div>
        <div>{problem.hint}</div>
        <div class="mono">{problem.where}</div>
        <button type="button" class="btn" onClick={watchedTotals.retry}>
          Try again
        </button>
      </div>
    );
  if (!all.length)
    return (
      <div class="state">
        {!ruleTotals.value ? (
          "Loading the rules"
        ) : rulesLink.value.query ? (
          <>
            <span>
              No rule, file or pass has <b>{short(rulesLink.value.query)}</b> in its name.
            </span>
            <button type="button" class="btn" onClick={() => list({ query: "" })}>
              Clear
            </button>
          </>
        ) : (
          <>
            <span>
              {v.never
                ? "Every rule that was tried has matched."
                : "No rule has matched or declined."}
            </span>
            {(v.never || v.pass !== null) && (
              <button type="button" class="btn" onClick={() => list({ never: false, pass: null })}>
                Show all
              </button>
            )}
          </>
        )}
      </div>
    );
  return (
    <VirtualList
      id="rules-list"
      class="tree"
      role="listbox"
      label="Rules"
      items={all}
      keyOf={(c) => c.key}
      lineHeight={LINE}
      cursor={cursor.value}
      reveal={chosen.value}
      onCursor={(key) => (cursor.value = key)}
      onKey={(e, c) => {
        if ((e.key !== "Enter" && e.key !== " ") || !c || c.id === REST) return;
        e.preventDefault();
        e.stopPropagation();
        if (e.key === "Enter" && chosen.value === c.key) openRule(c.id);
        else chosen.value = c.key;
      }}
      draw={(c, i) => {
        return c.id === REST ? (
          <Rest key={c.key} c={c} top={i * LINE} />
        ) : (
          <Line key={c.key} c={c} top={i * LINE} most={most} />
        );
      }}
    />
  );
}

/** The time outside matches: no rule, so it opens nothing. */
function Rest({ c, top }: { c: Cost; top: number }) {
  return (
    <div
      id={`rules-list-${c.key}`}
      role="option"
      aria-selected={false}
      class={cursor.value === c.key ? "trow cur" : "trow"}
      style={{ top: `${top}px`, height: `${LINE}px` }}
      title={REST_TITLE}
      onClick={() => (cursor.value = c.key)}
    >
      <span class="el t2">{REST_NAME}</span>
      <span class="el t3" title={REST_TITLE}>
        traversal, matching, recording
      </span>
      <span class="el t2">{short(c.pass)}</span>
      {Array.from({ length: 7 }, (_, i) => (
        <span key={i} class="r t3" aria-hidden="true">
          –
        </span>
      ))}
      <span class="num r">{micros(c.us ?? 0)}</span>
      <span class="r t3" aria-hidden="true">
        –
      </span>
    </div>
  );
}

function Line({ c, top, most }: { c: Cost; top: number; most: number }) {
  const on = chosen.value === c.key;
  const known = counted.value;
  return (
    <div
      id={`rules-list-${c.key}`}
      role="option"
      aria-selected={on}
      class={["trow", on && "sel", cursor.value === c.key && "cur"].filter(Boolean).join(" ")}
      style={{ top: `${top}px`, height: `${LINE}px` }}
      onClick={() => {
        cursor.value = c.key;
        chosen.value = on ? null : c.key;
      }}
      onDblClick={() => void showSteps(c)}
    >
      <span class="el mono b" title={short(c.rule, 1000)}>
        <Highlight text={short(c.rule)} query={rulesLink.value.query} />
      </span>
      <span class="el" onClick={(e) => e.stopPropagation()}>
        {c.place ? <Place {...place(c.place)} inList /> : <span class="t3">unknown</span>}
      </span>
      <span class="el t2" title={short(c.passes.join(", "), 1000)}>
        {short(c.pass)}
      </span>
      {c.tries === null ? (
        <span class="r t3 el" title="This trace does not say how often this rule was tried">
          not recorded
        </span>
      ) : (
        <span class="num r t2">{count(c.tries)}</span>
      )}
      <span class="num r">{count(c.matches)}</span>
      <span class="num r t2">{percent(shareOf(c))}</span>
      <span class="num r t2">{count(c.declines)}</span>
      <span class="num r">{known ? signed(c.added, "+") : "…"}</span>
      <span class="num r">{known ? signed(c.removed, "−") : "…"}</span>
      {c.matches ? <span class="num r t2">{micros(meanOf(c))}</span> : <span class="r t3">–</span>}
      {c.us === null ? (
        <span class="r t3" title="It matched nothing">
          –
        </span>
      ) : (
        <span class="num r b">{micros(c.us)}</span>
      )}
      {c.tryUs === null ? (
        <span class="r t3 el" title="This trace does not record how long tries took">
          –
        </span>
      ) : (
        <span class="num r">{micros(c.tryUs)}</span>
      )}
      <span class="bar" aria-hidden="true">
        <i style={{ width: `${most ? (100 * barOf(c)) / most : 0}%` }} />
      </span>
    </div>
  );
}

/** What the bar of a line shows: the time that sorts the list. */
const barOf = (c: Cost): number => (order.value.endsWith("tryUs") ? c.rankedUs : c.us) ?? 0;

/** As "4.2%"; "" where there is no share. */
function percent(share: number | null): string {
  if (share === null) return "";
  const p = 100 * share;
  if (p > 0 && p < 0.1) return "<0.1%";
  return `${p === 0 || p >= 9.95 ? Math.round(p) : p.toFixed(1)}%`;
}

const signed = (n: number, sign: string): string => (n ? `${sign}${count(n)}` : "0");

function Chosen() {
  const cost = chosenCost.value;
  const why = cost ? whyNever(cost) : "";
  const rule = cost ? rules.value.get(cost.id) : undefined;
  if (!cost) return null;
  return (
    <aside class="rv-rule" data-region="Rule" aria-label={`Rule ${short(cost.rule)}`}>
      <div class="ph">
        {cost.matches > 0 && (
          <button type="button" class="btn sm pri" onClick={() => void showSteps(cost)}>
            Show steps
          </button>
        )}
        <button
          type="button"
          class="btn sm"
          title="Its passes, tries and near misses (Enter)"
          onClick={() => openRule(cost.id)}
        >
          Rule page
        </button>
        <span class="sp" />
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label="Close the rule"
          title="Close"
          onClick={() => (chosen.value = null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="scroll">
        {why && <p class="why-never">{why}</p>}
        {rule ? (
          <RuleText rule={rule} />
        ) : (
          <div class="state">The trace does not describe this rule.</div>
        )}
      </div>
    </aside>
  );
}
