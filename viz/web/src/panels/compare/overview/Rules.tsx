/** Rules that fire more or less often, that one side has not, or that were edited in between. */
import { computed, signal } from "@preact/signals";
import { onArrows } from "../../../parts/arrows";
import type { Both, RulePair } from "../../../data/messages/compare";
import { count, plural, short } from "../../../state/format";
import { ruleOfRun } from "../../../state/link/links";
import { onSearchKeys } from "../../../state/regions";
import { compareLink, show } from "../data/link";
import { comparison } from "../data/store";
import { change, figure, ratioText } from "./figures";

/** Rules that are drawn at once, on the tab and beside the kernels. */
const MOST = 300;
const FEW = 14;

const isSame = (r: RulePair): boolean => r.state === "equal" && !r.text;

/** The tab has the rules that cost more first, not those that fire more. */
const byTime = signal(false);

const timeOf = (r: RulePair): Both<number> => r.us ?? { a: null, b: null };
const slower = (r: RulePair): number => (timeOf(r).b ?? 0) - (timeOf(r).a ?? 0);

/** Those that differ, by how much; then the others. */
const rules = computed(() => {
  const by = (r: RulePair): number => Math.abs((r.matches.b ?? 0) - (r.matches.a ?? 0));
  const all = comparison.value?.rules ?? [];
  return [...all].sort((x, y) => Number(isSame(x)) - Number(isSame(y)) || by(y) - by(x));
});
const differing = computed(() => rules.value.filter((r) => !isSame(r)));
const most = computed(() =>
  Math.max(1, ...differing.value.slice(0, MOST).map((r) => Math.abs(byHowMuch(r)))),
);

const byHowMuch = (r: RulePair): number => (r.matches.b ?? 0) - (r.matches.a ?? 0);

function whyNone(): string {
  const { a, b } = comparison.value!.runs;
  return a?.edited || b?.edited ? "An edited text has no steps." : "No rule fired in either run.";
}

/** The list beside the kernels. */
export function FewRules() {
  const some = differing.value;
  const same = rules.value.length - some.length;
  return (
    <section class="ov-sec cmp-rules" data-region="Rules" aria-label="Rules that fire more or less">
      <div class="ov-h">
        <h3>Rules that fire more or less</h3>
        <span class="sp" />
        <span class="t3 nw">matches in B minus A</span>
      </div>
      <div class="cmp-rows" onKeyDown={onArrows}>
        {some.slice(0, FEW).map((r) => (
          <Line key={`${r.file} ${r.name}`} rule={r} />
        ))}
        <div class="cmp-more row">
          {some.length > FEW && (
            <button type="button" class="link num" onClick={() => show({ tab: "rules" })}>
              {count(some.length - FEW)} more
            </button>
          )}
          <span class="t3 num">
            {same ? `${plural(same, "rule")} ${same === 1 ? "fires" : "fire"} equally often` : ""}
            {!some.length && !same && whyNone()}
          </span>
        </div>
      </div>
    </section>
  );
}

/** All of them. */
export function RulesTab() {
  const { all, query } = compareLink.value;
  const q = query.trim().toLowerCase();
  const found = (all || byTime.value ? rules.value : differing.value).filter((r) =>
    r.name.toLowerCase().includes(q),
  );
  const some = byTime.value ? [...found].sort((x, y) => slower(y) - slower(x)) : found;
  const hidden = rules.value.length - differing.value.length;
  return (
    <section class="ov-sec cmp-rules cmp-wide" data-region="Rules" aria-label="Rules">
      <div class="ov-h">
        <h3>Rules</h3>
        <span class="t3 el">matches in B minus A, and what their functions took</span>
        <span class="sp" />
        <div class="seg" role="group" aria-label="Order of the rules">
          {[false, true].map((one) => (
            <button
              type="button"
              key={String(one)}
              aria-pressed={byTime.value === one}
              title={
                one ? "All rules, those that cost more in B first" : "Those that differ, most first"
              }
              onClick={() => (byTime.value = one)}
            >
              {one ? "By time" : "By matches"}
            </button>
          ))}
        </div>
        <label class="field cmp-filter">
          <input
            id="cmp-filter"
            type="search"
            placeholder="Filter by name"
            aria-label="Filter rules by name"
            aria-controls="cmp-rules"
            value={query}
            onInput={(e) => show({ query: e.currentTarget.value.slice(0, 200) }, "replace")}
            onKeyDown={onSearchKeys("cmp-rules", query, () => show({ query: "" }, "replace"))}
          />
        </label>
      </div>
      <div id="cmp-rules" class="cmp-rows" onKeyDown={onArrows}>
        {some.slice(0, MOST).map((r) => (
          <Line key={`${r.file} ${r.name}`} rule={r} whole />
        ))}
        {!some.length && (
          <div class="state">
            {q
              ? `No ${all ? "" : "differing "}rule matches “${short(query, 60)}”.`
              : "No rule differs."}
          </div>
        )}
        <div class="cmp-more row">
          {some.length > MOST && (
            <span class="t3 num">
              The first {count(MOST)} of {plural(some.length, "rule")} are listed.
            </span>
          )}
          {!all && !byTime.value && hidden > 0 && (
            <button type="button" class="link num" onClick={() => show({ all: true }, "replace")}>
              {count(hidden)} more fire equally often. Show
            </button>
          )}
        </div>
      </div>
    </section>
  );
}

const STATES: Record<RulePair["state"], { words: string; kind: string } | null> = {
  new: { words: "only in B", kind: "add" },
  gone: { words: "no longer fires", kind: "del" },
  more: null,
  less: null,
  equal: null,
};

/** `whole`: with what it took, and with the pages of the rule in both runs. */
function Line({ rule, whole = false }: { rule: RulePair; whole?: boolean }) {
  const n = byHowMuch(rule);
  const share = Math.abs(n) / most.value;
  const said = STATES[rule.state];
  const { a, b } = rule.matches;
  return (
    <div class={whole ? "cmp-rule whole" : "cmp-rule"} data-line>
      <span class="row g4">
        <button
          type="button"
          class="link plain mono el"
          title={`${rule.name} · ${rule.file}`}
          onClick={() => show({ tab: "rules", query: rule.name.slice(0, 200) }, "replace")}
        >
          {short(rule.name)}
        </button>
        {said && <span class={`badge ${said.kind}`}>{said.words}</span>}
        {rule.text && (
          <span class="badge mov" title="The recorded text of the rule differs between the runs">
            ◆ text differs
          </span>
        )}
      </span>
      <svg
        class={n > 0 ? "more" : "less"}
        viewBox="-50 0 100 10"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect x={n < 0 ? -48 * share : 0} y="1" width={48 * share} height="8" />
        <rect class="zero" x="-0.15" y="0" width="0.3" height="10" />
      </svg>
      <span class="num r t2 nw">
        {a === b ? figure(a, "") : `${figure(a ?? 0, "")} → ${figure(b ?? 0, "")}`}
      </span>
      <b class="num r nw">{n > 0 ? `+${count(n)}` : n < 0 ? `−${count(-n)}` : "0"}</b>
      {whole && <Cost rule={rule} />}
    </div>
  );
}

function Cost({ rule }: { rule: RulePair }) {
  const sides = ["a", "b"] as const;
  const us = timeOf(rule);
  return (
    <>
      <span class="num r nw t2">{change(us, "us")}</span>
      <span class="num r nw t2">{ratioText(us)}</span>
      <span class="row g4 nw">
        {sides.map((side) => {
          const number = rule[side];
          const letter = side.toUpperCase();
          return (
            number !== null && (
              <a
                key={side}
                class="link"
                tabIndex={-1}
                href={ruleOfRun(compareLink.value[side], number)}
                title={`The page of ${short(rule.name, 80)} in ${letter}`}
              >
                in {letter}
              </a>
            )
          );
        })}
      </span>
    </>
  );
}
