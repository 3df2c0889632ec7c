/** Kernels and schedules of both runs side by side, the most changed first. */
import { computed } from "@preact/signals";
import { onArrows } from "../../../parts/arrows";
import type { ScopePair } from "../../../data/messages/compare";
import { count, short, tellingParts } from "../../../state/format";
import { onSearchKeys } from "../../../state/regions";
import { kernelCount, windowWidth } from "../../../state/state";
import { CutMiddle } from "../../../ui/CutMiddle";
import { SortHead, sorted } from "../../../ui/SortHead";
import { compareLink, show } from "../data/link";
import { comparison, keyOfScope, scope } from "../data/store";
import {
  change,
  columnsOf,
  matches,
  ratio,
  ratioText,
  type ScopeColumn,
  SIGNS,
  timesOf,
  timesTitle,
} from "./figures";

/** Lines that are drawn at once. */
const MOST = 300;

/** From this width on there is room for all columns, px. */
const WIDE = 1680;

const columns = computed(() =>
  columnsOf(comparison.value?.scopes ?? []).filter((c) => !c.wide || windowWidth.value >= WIDE),
);
const found = computed(() =>
  (comparison.value?.scopes ?? []).filter((s) => matches(s, compareLink.value.query)),
);
/** What is listed, in order. */
export const listed = computed<readonly ScopePair[]>(() => {
  const { all, order } = compareLink.value;
  const some = all
    ? found.value
    : found.value.filter((s) => s.state !== "equal" || s === scope.value);
  return order ? sorted(some, columns.value, order) : some;
});
const LONGEST = 300;
/** Where names and calls of the list begin to differ. */
const telling = computed(
  () =>
    new Map([
      ...tellingParts(listed.value.map(namesOf)),
      ...tellingParts(listed.value.map(({ call }) => short(call, LONGEST))),
    ]),
);
/** Equal ones that are not listed. */
const equal = computed(
  () => found.value.filter((s) => s.state === "equal" && !listed.value.includes(s)).length,
);

export function Kernels() {
  const c = comparison.value!;
  const { query, all } = compareLink.value;
  const lines = listed.value;
  const template = [...columns.value.map((col) => col.width), "112px"].join(" ");
  return (
    <section
      class="ov-sec cmp-kernels grid-list"
      data-region="Kernels"
      aria-label="Kernels"
      style={{ "--cols": `16px ${template}` }}
    >
      <div class="ov-h">
        <h3>Kernels</h3>
        <span class="t3 el wide">matched by structure; names and order do not count</span>
        <span class="sp" />
        <Counts />
        <label class="field cmp-filter">
          <input
            id="cmp-filter"
            type="search"
            placeholder="Filter by name or call"
            aria-label="Filter kernels by name or call"
            aria-controls="cmp-kernels"
            value={query}
            onInput={(e) => show({ query: e.currentTarget.value.slice(0, 200) }, "replace")}
            onKeyDown={onSearchKeys("cmp-kernels", query, () => show({ query: "" }, "replace"))}
          />
        </label>
      </div>
      <div class="cmp-heads">
        <span />
        <SortHead
          columns={columns.value}
          order={compareLink.value.order}
          onOrder={(order) => show({ order }, "replace")}
        />
      </div>
      <div id="cmp-kernels" class="cmp-rows" onKeyDown={onArrows}>
        {lines.slice(0, MOST).map((s) => (
          <Line key={keyOfScope(s)} pair={s} />
        ))}
        {!lines.length && <Nothing />}
        <Rest shown={Math.min(lines.length, MOST)} total={lines.length} left={c.leftOut} />
        {!all && equal.value > 0 && (
          <button
            type="button"
            class="link num cmp-more"
            onClick={() => show({ all: true }, "replace")}
          >
            {count(equal.value)} more {equal.value === 1 ? "is" : "are"} equal. Show
          </button>
        )}
      </div>
    </section>
  );
}

function Nothing() {
  const { query } = compareLink.value;
  if (query)
    return (
      <div class="state">
        <span>
          No {compareLink.value.all ? "" : "differing "}kernel matches “{short(query, 60)}”.
        </span>
        <button type="button" class="btn sm" onClick={() => show({ query: "" }, "replace")}>
          Clear the filter
        </button>
      </div>
    );
  return (
    <div class="state">{comparison.value?.done ? "No kernel differs." : "Comparing kernels"}</div>
  );
}

function Rest({ shown, total, left }: { shown: number; total: number; left: number }) {
  if (shown === total && !left) return null;
  return (
    <div class="t3 num cmp-more">
      {shown < total && `The first ${count(shown)} of ${kernelCount(total)} are listed. `}
      {left > 0 && `${kernelCount(left)} more did not fit into the answer.`}
    </div>
  );
}

/** How many of each kind there are. */
function Counts() {
  const all = comparison.value?.scopes ?? [];
  return (
    <span class="row g4">
      {(["changed", "added", "removed"] as const).map((state) => {
        const n = all.filter((s) => s.state === state).length;
        const { sign, words, ...rest } = SIGNS[state];
        const kind = rest.class.replace("sig ", "");
        return n ? (
          <span key={state} class={`badge ${kind}`} title={`${count(n)} ${words}`}>
            {sign}
            {count(n)}
            <span class="sr"> {words}</span>
          </span>
        ) : null;
      })}
    </span>
  );
}

function Line({ pair }: { pair: ScopePair }) {
  const { sign, words, ...rest } = SIGNS[pair.state];
  const on = scope.value !== null && keyOfScope(scope.value) === keyOfScope(pair);
  const choose = (): void => show({ scope: keyOfScope(pair), sources: null }, "replace");
  return (
    <div
      class={`cmp-row${on ? " sel" : ""}${pair.state === "equal" ? " same" : ""}`}
      data-line
      onClick={choose}
    >
      <span class={rest.class} title={words} aria-hidden="true">
        {sign}
      </span>
      <span class="row g4">
        <button
          type="button"
          class="link plain mono el"
          aria-current={on ? "true" : undefined}
          aria-label={`${namesOf(pair)}, ${words}`}
          title={titleOf(pair)}
          onClick={choose}
        >
          <CutMiddle text={namesOf(pair)} from={telling.value.get(namesOf(pair))} />
        </button>
        {pair.call && (
          <span class="t3 small el">
            <CutMiddle
              text={short(pair.call, LONGEST)}
              from={telling.value.get(short(pair.call, LONGEST))}
            />
          </span>
        )}
      </span>
      {columns.value.slice(1).map((c) => (
        <Figure key={c.key} of={c} pair={pair} />
      ))}
      <Ratio pair={pair} />
    </div>
  );
}

/** "r_64", or "r_64 → r_32" where the names differ. */
export function namesOf({ name }: ScopePair): string {
  const [a, b] = [name.a && short(name.a), name.b && short(name.b)];
  return a && b && a !== b ? `${a} → ${b}` : (a ?? b ?? "");
}

const BY = {
  structure: "matched by structure",
  call: "matched by call",
  likeness: "matched by likeness",
};

const titleOf = (s: ScopePair): string =>
  [namesOf(s), s.call, s.by && BY[s.by], SIGNS[s.state].words].filter(Boolean).join(" · ");

function Figure({ of, pair }: { of: ScopeColumn; pair: ScopePair }) {
  const both = of.of!(pair);
  const text = change(both, of.unit);
  return (
    <span
      class={`num r el${both.a === both.b || pair.state === "equal" ? " t3" : ""}`}
      title={both.a === both.b ? "" : `${of.name}: ${ratioText(both)} of A`}
    >
      {text}
    </span>
  );
}

/** Half a bar is a factor of this. */
const FULL = 2;
const HALF = 26;

/** B's time in times of A's, with a bar from the middle: to the left where it is quicker. */
function Ratio({ pair }: { pair: ScopePair }) {
  const [r, said] = [ratio(pair.us), timesOf(pair)];
  if (r === null || !said) return <span />;
  const reach = Math.max(-1, Math.min(1, Math.log(Math.max(r, 1e-9)) / Math.log(FULL))) * HALF;
  const x = HALF + Math.min(0, reach);
  const kind = said.tint || "t3";
  return (
    <span class="row cmp-ratio" title={`${said.words}. ${timesTitle(pair)}`}>
      <span class={`num r ${said.tint ? "b " : ""}${kind}`}>{said.figure}</span>
      <svg width={2 * HALF} height="12" aria-hidden="true" class={kind}>
        <rect class="bar" x={x} y="3" width={Math.abs(reach)} height="6" />
        <rect class="zero" x={HALF - 0.5} y="0" width="1" height="12" />
      </svg>
    </span>
  );
}
