/** What is looked at as a tree: its passes, the steps of the open pass; search of the run on top. */
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { plural } from "../../state/format";
import {
  compiledRowOf,
  currentSubject,
  filtered,
  isLive,
  rows,
  sidePanel,
  subjectRowOf,
} from "../../state/state";
import { onSearchKeys } from "../../state/regions";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";
import { FilterChips } from "./FilterChips";
import { search, SearchList } from "./SearchList";
import { TreeList } from "./TreeList";
import { searchBox } from "./searchBox";

/** The funnel was pressed; without it chips are there while a filter is set. */
const chipsOpen = signal(false);

export function Navigator() {
  const input = useRef<HTMLInputElement>(null);
  const { query } = searchBox;
  const asking = query.value.trim() !== "";
  const chips = chipsOpen.value;
  return (
    <aside
      class={sidePanel.value === "nav" ? "nav over" : "nav"}
      data-region="Run navigator"
      aria-label="Run navigator"
    >
      <div class="head">
        <label class="field">
          <Icon name="search" />
          <input
            ref={input}
            id="search"
            type="search"
            placeholder="Find a pass, rule or node"
            aria-label="Search the run"
            spellcheck={false}
            value={query.value}
            aria-controls="nav-list"
            onInput={(e) => search(e.currentTarget.value)}
            onKeyDown={(e) => {
              onSearchKeys("nav-list", query.value, () => search(""))(e);
              // what was opened is walked through by keys, which a field would take
              if (e.key === "Enter") document.getElementById("nav-list")?.focus();
            }}
          />
          {asking ? (
            <button
              type="button"
              class="link plain"
              aria-label="Clear the search"
              onClick={() => {
                query.value = "";
                input.current?.focus();
              }}
            >
              <Icon name="close" />
            </button>
          ) : (
            <button
              type="button"
              class="link plain"
              aria-label="Filters"
              aria-expanded={chips}
              title="Filters: fold passes that changed nothing, only a rule, an op, a node"
              onClick={() => (chipsOpen.value = !chipsOpen.peek())}
            >
              <Icon name="funnel" />
            </button>
          )}
        </label>
        {(chips || filtered.value) && <FilterChips />}
      </div>
      {asking ? <SearchList /> : <TreeList />}
      <Footer />
      <Divider
        part="nav"
        label="Width of the navigator"
        class="nav-edge"
        axis="x"
        grows={1}
        min={200}
        max={420}
      />
    </aside>
  );
}

/** How much of it there is. */
function Footer() {
  const of = currentSubject.value;
  const passes = rows.value.filter(
    (r) =>
      r.kind === "rewrite" &&
      compiledRowOf.value[r.row] === -1 &&
      (of === null || subjectRowOf.value[r.row] === of.row),
  );
  const open = rows.value.filter((row) => row.status === "open").length;
  if (!passes.length) return <div class="foot" />;
  const steps = passes.reduce((sum, r) => sum + r.steps, 0);
  return (
    <div class="foot num">
      <span class="el">
        {plural(steps, "step")} in {plural(passes.length, "pass", "passes")}
      </span>
      <span class="sp" />
      {isLive.value && open > 0 && <span>{open} running</span>}
    </div>
  );
}
