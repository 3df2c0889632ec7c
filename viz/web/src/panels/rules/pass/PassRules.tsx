/** What the rules of one pass took in it alone, those that were tried for the longest time first. */
import { ancestry } from "../../../data/rows";
import type { PassRules as Found, RuleInOnePass } from "../../../data/messages/rule";
import { Failed } from "../../../parts/Failed";
import { Go } from "../../../parts/Go";
import { count, micros, place, plural, short } from "../../../state/format";
import { passAt } from "../../../state/link/links";
import { rows } from "../../../state/state";
import { Icon } from "../../../ui/Icon";
import { Place } from "../../../ui/code/Text";
import { VirtualList } from "../../../ui/VirtualList";
import { TRY_TITLE } from "../data/costs";
import { openPassRules, openRule } from "../data/link";
import { cursor, passRules, watchedPass } from "./store";

const LINE = 28;
const HEADS: readonly [name: string, title: string][] = [
  ["Rule", ""],
  ["Where", ""],
  ["Tried", "Nodes that its pattern was run on"],
  ["Matched", ""],
  ["In patterns", "Time of its tries outside its function"],
  ["In function", "Time of its function, whether it matched or declined"],
  ["In tries", TRY_TITLE],
];

export function PassRules({ id }: { id: number }) {
  const problem = watchedPass.error.value;
  const found = passRules.value;
  return (
    <main class="rv" aria-label="Rules of one pass">
      <section
        class="grid-list onepass"
        data-region="Rules of one pass"
        aria-label="Rules of one pass"
      >
        <Head id={id} found={found} />
        <div class="heads">
          {HEADS.map(([name, title], i) => (
            <span key={name} class={i > 1 ? "r" : undefined} title={title || undefined}>
              {name}
            </span>
          ))}
        </div>
        {problem ? (
          <Failed problem={problem} retry={watchedPass.retry} />
        ) : found ? (
          <List found={found} />
        ) : (
          <div class="state" role="status">
            Loading the rules of this pass
          </div>
        )}
        <p class="sums t2">{found ? note(found) : ""}</p>
      </section>
    </main>
  );
}

function note(found: Found): string {
  if (!found.known)
    return "This trace does not record how long tries took: its compiler, or an older recorder, left it out.";
  return "Tries of a rule that took less than 10 µs in this pass are counted for all passes of its name only. A function that runs a pass is timed with it.";
}

function Head({ id, found }: { id: number; found: Found | null }) {
  const row = rows.value.find((r) => r.kind === "rewrite" && r.id === id);
  const around = row ? (ancestry(rows.value, row.row)[1]?.name ?? "") : "";
  return (
    <div class="ph">
      <button
        type="button"
        class="btn sm"
        title="Rules of the whole run (Esc)"
        onClick={() => openPassRules(null)}
      >
        <Icon name="prev" /> All passes
      </button>
      <b class="mono el">{short(found?.pass ?? row?.name ?? `pass ${id}`, 100)}</b>
      {around && <span class="t3 el">{short(around, 100)}</span>}
      <span class="sp" />
      {found && (
        <span class="t3 num nw">
          {plural(found.rows.length, "rule")}
          {found.us !== null && `, ${micros(found.us)} in all`}
        </span>
      )}
      {row && (
        <Go to={passAt(id)} title="Its graphs, step by step">
          graphs
        </Go>
      )}
    </div>
  );
}

function List({ found }: { found: Found }) {
  const most = found.rows.reduce((m, r) => Math.max(m, r.tryUs ?? 0), 0);
  if (!found.rows.length)
    return (
      <div class="state">
        {found.known
          ? "No rule matched in this pass, and none was tried for 10 µs or longer."
          : "No rule matched in this pass."}
      </div>
    );
  return (
    <VirtualList
      id="pass-rules"
      class="tree"
      role="listbox"
      label="Rules of this pass"
      items={found.rows}
      keyOf={(r) => String(r.id)}
      lineHeight={LINE}
      cursor={cursor.value}
      reveal={cursor.value}
      onCursor={(key) => (cursor.value = key)}
      onKey={(e, r) => {
        if ((e.key !== "Enter" && e.key !== " ") || !r) return;
        e.preventDefault();
        e.stopPropagation();
        openRule(r.id);
      }}
      draw={(r, i) => <Line key={r.id} r={r} top={i * LINE} most={most} />}
    />
  );
}

function Line({ r, top, most }: { r: RuleInOnePass; top: number; most: number }) {
  const key = String(r.id);
  const { tries, tryUs, functionUs } = r;
  return (
    <div
      id={`pass-rules-${key}`}
      role="option"
      aria-selected={cursor.value === key}
      class={cursor.value === key ? "trow cur" : "trow"}
      style={{ top: `${top}px`, height: `${LINE}px` }}
      title="Enter opens the page of the rule"
      onClick={() => {
        cursor.value = key;
        openRule(r.id);
      }}
    >
      <span class="el mono b">{short(r.rule)}</span>
      <span class="el" onClick={(e) => e.stopPropagation()}>
        {r.place ? <Place {...place(r.place)} inList /> : <span class="t3">unknown</span>}
      </span>
      <span class="num r t2">{tries === null ? "–" : count(tries)}</span>
      <span class="num r">{count(r.matches)}</span>
      <span class="num r t2">
        {tryUs === null || functionUs === null ? "–" : micros(tryUs - functionUs)}
      </span>
      <span class="num r t2">{functionUs === null ? "–" : micros(functionUs)}</span>
      <span class="num r b">{tryUs === null ? "–" : micros(tryUs)}</span>
      <span class="bar" aria-hidden="true">
        <i style={{ width: `${most ? (100 * (tryUs ?? 0)) / most : 0}%` }} />
      </span>
    </div>
  );
}
