/** One rule in the whole run: tries, matches and declines by pass, where it matched, what it says. */
import { kernelName } from "../../../parts/kernel/passes";
import { Failed } from "../../../parts/Failed";
import { Go } from "../../../parts/Go";
import { RuleText } from "../../../parts/rule/RuleText";
import { RuleActions } from "../../../parts/whatif/RuleActions";
import type { RuleInPass, RulePage as Page } from "../../../data/messages/rule";
import { nearMissesAt } from "../../../state/link/links";
import { count, micros, plural, short } from "../../../state/format";
import { currentKernel, currentRow, rows, ruleName } from "../../../state/state";
import { Icon } from "../../../ui/Icon";
import { VirtualList } from "../../../ui/VirtualList";
import { TRY_TITLE, whyNever } from "../data/costs";
import { list, openRule, rulesLink } from "../data/link";
import { largestPass, type MatchedPass, sumsOf } from "./places";
import { cursor, openMatch, openNext, passes, rulePage, timed, watchedPage } from "./store";

const LINE = 26;

export function RulePage({ id }: { id: number }) {
  const page = rulePage.value;
  const problem = watchedPage.error.value;
  return (
    <main class="rp" aria-label={`Rule ${ruleName(id)}`}>
      <section class="rp-main" data-region="Rule by pass" aria-label="Rule by pass">
        <Head id={id} page={page} />
        {problem ? (
          <Failed problem={problem} retry={watchedPage.retry} />
        ) : page ? (
          <div class="scroll">
            <Summary page={page} />
            <ByPass page={page} />
          </div>
        ) : (
          <div class="state" role="status">
            Loading the rule
          </div>
        )}
      </section>
      {page && (
        <>
          <Passes page={page} />
          <aside class="rp-text" data-region="Rule text" aria-label="Rule text">
            <div class="scroll">
              <RuleText
                rule={page.rule}
                actions={
                  <div class="row wrap g4 actions">
                    <RuleActions rule={page.rule.name} onPage />
                  </div>
                }
              />
            </div>
          </aside>
        </>
      )}
    </main>
  );
}

function Head({ id, page }: { id: number; page: Page | null }) {
  const some = passes.value.length > 0;
  return (
    <div class="ph">
      <button type="button" class="btn sm" title="All rules (Esc)" onClick={() => openRule(null)}>
        <Icon name="prev" /> All rules
      </button>
      <b class="mono el">{ruleName(id)}</b>
      <span class="sp" />
      {page && some && (
        <>
          <button
            type="button"
            class="btn sm ico"
            aria-label="Previous pass in which it matched"
            title={`Previous pass in which it matched${standing()} ([)`}
            onClick={() => openNext(-1)}
          >
            <Icon name="prev" />
          </button>
          <button
            type="button"
            class="btn sm ico"
            aria-label="Next pass in which it matched"
            title={`Next pass in which it matched${standing()} (])`}
            onClick={() => openNext(1)}
          >
            <Icon name="right" />
          </button>
        </>
      )}
    </div>
  );
}

/** ", from lower of r_32_10": where next and previous count from. */
function standing(): string {
  const row = currentRow.value;
  if (!row) return "";
  const kernel = currentKernel.value;
  return `, from ${short(row.name, 60)}${kernel ? ` of ${short(kernelName(kernel), 60)}` : ""}`;
}

function Summary({ page }: { page: Page }) {
  const sums = sumsOf(page);
  const tried =
    sums.tries === null
      ? "The trace does not say how often it was tried."
      : `Tried on ${plural(sums.tries, "node")}.`;
  const took =
    sums.tryUs === null || !page.passes.length ? "" : ` All its tries took ${micros(sums.tryUs)}.`;
  const said = sums.matches
    ? `${tried} It matched ${plural(sums.matches, "time")} in ${plural(page.rewrite.length, "pass", "passes")} and declined ${plural(sums.declines, "time")}; its matches took ${micros(sums.us)}.`
    : page.passes.length
      ? whyNever(sums) || "It matched nothing. The trace does not say how often it was tried."
      : "No pass of this run is known to have tried it.";
  return (
    <div class="sec">
      <p class="rp-said">
        {said}
        {took}
      </p>
      {!page.done && (
        <p class="t3 small" role="status">
          Still counting
        </p>
      )}
    </div>
  );
}

function ByPass({ page }: { page: Page }) {
  if (!page.passes.length) return null;
  return (
    <table class="rp-passes" aria-label="By pass">
      <thead>
        <tr>
          <th>Pass</th>
          <th class="r">Tried</th>
          <th class="r">Matched</th>
          <th class="r">%</th>
          <th class="r">Declined</th>
          <th class="r">In matches</th>
          <th class="r" title={TRY_TITLE}>
            In tries
          </th>
          <th />
        </tr>
      </thead>
      <tbody>
        {page.passes.map((one) => (
          <PassLine key={one.pass} one={one} rule={page.rule.id} />
        ))}
      </tbody>
    </table>
  );
}

function PassLine({ one, rule }: { one: RuleInPass; rule: number }) {
  const largest = largestPass(rows.value, one.pass);
  const first = passes.value.find((p) => p.row.name === one.pass);
  return (
    <tr>
      <td class="el" title={short(one.pass, 1000)}>
        {first ? (
          <button type="button" class="link el" onClick={() => openMatch(first)}>
            {short(one.pass)}
          </button>
        ) : (
          short(one.pass)
        )}
      </td>
      <td class="r">
        {one.tries === null ? <span class="t3">not recorded</span> : count(one.tries)}
      </td>
      <td class="r b">{count(one.matches)}</td>
      <td class="r t2">{one.tries ? percent(one.matches / one.tries) : ""}</td>
      <td class="r">{count(one.declines)}</td>
      <td class="r">{one.matches ? micros(one.us) : <span class="t3">–</span>}</td>
      <td class="r b" title={inFunction(one)}>
        {one.tryUs === null ? <span class="t3">–</span> : micros(one.tryUs)}
      </td>
      <td class="r">
        {largest && (
          <Go
            to={nearMissesAt(largest.id, rule)}
            title={`Nodes of the largest pass of this name where the pattern nearly fits`}
          >
            near misses
          </Go>
        )}
      </td>
    </tr>
  );
}

const inFunction = (one: RuleInPass): string | undefined =>
  one.functionUs === null ? undefined : `${micros(one.functionUs)} of it in its function`;

const percent = (share: number): string =>
  share > 0 && share < 0.001
    ? "<0.1%"
    : `${share === 0 || share >= 0.1 ? Math.floor(100 * share) : (100 * share).toFixed(1)}%`;

/** The passes in which it matched, in the order of the run; or those in which it was tried longest. */
function Passes({ page }: { page: Page }) {
  const { byTime } = rulesLink.value;
  const all = byTime ? timed.value : passes.value;
  const title = byTime ? "Where its tries took longest" : "Where it matched";
  return (
    <section class="rp-where grid-list" data-region={title} aria-label={title}>
      <div class="ph">
        <span class="seg" role="group" aria-label="Passes">
          <button
            type="button"
            aria-pressed={!byTime}
            title="Passes in which it matched, in the order of the run"
            onClick={() => list({ byTime: false })}
          >
            Matched
          </button>
          <button
            type="button"
            aria-pressed={byTime}
            title="Passes in which its tries took longest"
            onClick={() => list({ byTime: true })}
          >
            By time
          </button>
        </span>
        <span class="sp" />
        <span class="t3 num nw">{plural(all.length, "pass", "passes")}</span>
      </div>
      <div class="heads">
        <span>Pass</span>
        <span>Within</span>
        <span class="r">Matches</span>
        <span class="r" title={TRY_TITLE}>
          In tries
        </span>
      </div>
      {!all.length && <div class="state">{byTime ? noTimes(page) : "It matched in no pass."}</div>}
      <VirtualList
        id="rule-passes"
        class="tree"
        role="listbox"
        label={byTime ? "Passes by the time of its tries" : "Passes in which it matched"}
        items={all}
        keyOf={(p) => String(p.row.id)}
        lineHeight={LINE}
        cursor={cursor.value}
        reveal={cursor.value}
        onCursor={(key) => (cursor.value = key)}
        onKey={(e, p) => {
          if ((e.key !== "Enter" && e.key !== " ") || !p) return;
          e.preventDefault();
          e.stopPropagation();
          openMatch(p);
        }}
        draw={(p, i) => <MatchedLine key={p.row.id} p={p} top={i * LINE} />}
      />
    </section>
  );
}

function noTimes(page: Page): string {
  if (page.times)
    return "In no single pass did its tries take 10 µs; the table has the time by pass name.";
  return page.passes.some((one) => one.tryUs !== null)
    ? "This file has the time of tries by pass name only; the time in each pass needs the trace: uopviz open."
    : "This trace does not record how long tries took.";
}

function MatchedLine({ p, top }: { p: MatchedPass; top: number }) {
  const key = String(p.row.id);
  return (
    <div
      id={`rule-passes-${key}`}
      role="option"
      aria-selected={cursor.value === key}
      class={cursor.value === key ? "trow cur" : "trow"}
      style={{ top: `${top}px`, height: `${LINE}px` }}
      onClick={() => {
        cursor.value = key;
        openMatch(p);
      }}
    >
      <span class="el" title={short(p.row.name, 1000)}>
        {short(p.row.name)}
      </span>
      <span class="el t3" title={short(p.where, 1000)}>
        {short(p.where)}
      </span>
      <span class="num r t2">{p.matches ? count(p.matches) : "–"}</span>
      <span class="num r" title="Time of its tries in this pass">
        {p.us === null ? <span class="t3">–</span> : micros(p.us)}
      </span>
    </div>
  );
}
