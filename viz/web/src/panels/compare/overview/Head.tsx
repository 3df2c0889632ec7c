/** The two runs, what of them is listed, and what they come to as a whole. */
import type { ComparedTotal } from "../../../data/messages/compare";
import { count } from "../../../state/format";
import { Icon } from "../../../ui/Icon";
import { RunChooser } from "./RunChooser";
import { compareLink, compareRuns, show, type Tab, TABS } from "../data/link";
import { comparison } from "../data/store";
import { figure, ratioText } from "./figures";

export function Head() {
  const { a, b } = compareLink.value;
  return (
    <div class="cmp-head" data-region="Runs">
      <RunChooser side="a" />
      <span class="t3 mid">against</span>
      <RunChooser side="b" />
      <button
        type="button"
        class="btn sm quiet"
        title="Swap A and B"
        onClick={() => compareRuns(b, a)}
      >
        <Icon name="swap" />
        <span class="wide">Swap</span>
      </button>
      <span class="sp" />
      <Tabs />
      <button
        type="button"
        class="btn sm"
        aria-pressed={!compareLink.value.all}
        title="Leave out what is equal (A)"
        onClick={() => show({ all: !compareLink.peek().all }, "replace")}
      >
        Differences only
      </button>
    </div>
  );
}

const TITLES: Record<Tab, string> = {
  kernels: "Kernels",
  rules: "Rules",
  passes: "Passes",
  environment: "Environment",
};

/** How many things differ on a tab; null: that is not known yet. */
function countOf(tab: Tab): number | null {
  const c = comparison.value;
  if (!c) return null;
  switch (tab) {
    case "kernels":
      return c.scopes.filter((s) => s.state !== "equal").length;
    case "rules":
      return c.rules.filter((r) => r.state !== "equal" || r.text).length;
    case "passes":
      return c.passes.filter((p) => p.steps.a !== p.steps.b).length;
    case "environment":
      return c.environment.length + c.errors.length;
  }
}

function Tabs() {
  return (
    <div class="seg" role="group" aria-label="What is compared">
      {TABS.map((tab) => {
        const n = countOf(tab);
        return (
          <button
            type="button"
            key={tab}
            aria-pressed={compareLink.value.tab === tab}
            title={n === null ? undefined : `${TITLES[tab]}: ${count(n)} differ`}
            onClick={() => show({ tab }, "replace")}
          >
            {TITLES[tab]} <span class="t3 num">{n === null ? "" : count(n)}</span>
          </button>
        );
      })}
    </div>
  );
}

const WHAT: Record<ComparedTotal["what"], string> = {
  kernels: "Kernels",
  steps: "Matches",
  nodes: "Nodes",
  compile: "Compile time",
  run: "Run time",
  memory: "Peak memory",
  launches: "Launches",
};

export function Totals() {
  const totals = (comparison.value?.totals ?? []).filter((t) => t.a !== null || t.b !== null);
  if (!totals.length) return null;
  return (
    <dl class="cmp-totals">
      {totals.map((total) => (
        <Total key={total.what} total={total} />
      ))}
    </dl>
  );
}

function Total({ total }: { total: ComparedTotal }) {
  const [a, b] = [figure(total.a, total.unit), figure(total.b, total.unit)];
  return (
    <div>
      <dt class="el t2">{WHAT[total.what]}</dt>
      <dd class="num">
        <b class="el" title={`A ${a}, B ${b}`}>
          {a === b ? a : `${a} → ${b}`}
        </b>
        {a !== b && <span class="badge">{ratioText(total) || "one side only"}</span>}
      </dd>
    </div>
  );
}
