/** The run as a tree: contexts, passes, the steps of the open pass; search and filters on top. */
import { useRef } from "preact/hooks";
import { millis, plural } from "../../state/format";
import { rows, run, sidePanel } from "../../state/state";
import { CheckMark } from "../../parts/check/CheckMark";
import { marks } from "../../parts/check/checks";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";
import { FilterChips } from "./FilterChips";
import { openFirst, SearchList } from "./SearchList";
import { TreeList } from "./TreeList";
import { searchBox } from "./searchBox";

export function Navigator() {
  const input = useRef<HTMLInputElement>(null);
  const { query } = searchBox;
  const asking = query.value.trim() !== "";
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
            placeholder="Name, call, rule or op"
            aria-label="Search the run"
            spellcheck={false}
            value={query.value}
            onInput={(e) => (query.value = e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key === "Escape") {
                if (query.value) e.stopPropagation();
                query.value = "";
                e.currentTarget.blur();
              }
              if (e.key === "ArrowDown" || e.key === "Enter") {
                e.preventDefault();
                document.querySelector<HTMLElement>("#nav-list")?.focus();
                if (e.key === "Enter") openFirst();
              }
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
            <kbd>/</kbd>
          )}
        </label>
        <FilterChips />
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

function Footer() {
  const r = run.value;
  if (!r) return <div class="foot" />;
  const open = rows.value.filter((row) => row.status === "open").length;
  return (
    <div class="foot num">
      <span class="el">
        {plural(r.totals.kernels, "kernel")} · {plural(r.totals.steps, "step")}
      </span>
      <span class="sp" />
      {marks.value.run && <CheckMark mark={marks.value.run} />}
      {r.live && open > 0 && <span>{open} running</span>}
      <span>{millis(r.seconds * 1000)}</span>
    </div>
  );
}
