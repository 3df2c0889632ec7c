/** Answers of the search box, in groups. */
import { computed, signal } from "@preact/signals";
import { count, plural, short } from "../../state/format";
import { COMPILED, findInRun, type Hit } from "../../parts/search/find";
import { Highlight } from "../../ui/Highlight";
import { VirtualList } from "../../ui/VirtualList";
import { searchBox } from "./searchBox";

const LINE = 24;
const cursor = signal<string | null>(null);
const groups = computed(() => findInRun(searchBox.query.value, searchBox.result.value));

/** A hit, or the name of the group that follows, or in it of the kernel. */
type Line =
  | { key: string; name: string; shown: number; total: number }
  | { key: string; name: string; shown?: never }
  | (Hit & { name?: never });

const lines = computed<readonly Line[]>(() => {
  let hits = 0;
  return groups.value.flatMap(({ name, hits: own, total }, i): Line[] => [
    { key: `g${i}`, name, shown: own.length, total },
    ...own.flatMap((hit, at): Line[] => {
      const line = { ...hit, key: `h${hits++}` };
      const isFirst = hit.under && hit.under !== own[at - 1]?.under;
      return isFirst ? [{ key: `u${hits}`, name: hit.under! }, line] : [line];
    }),
  ]);
});

/** Asks for `query`; the hit that stands first is what Enter opens. */
export function search(query: string): void {
  cursor.value = null;
  searchBox.query.value = query;
}

export function SearchList() {
  const query = searchBox.query.value.trim();
  const found = searchBox.result.value;
  const problem = searchBox.error.value ?? found?.problem;
  const others = groups.value.find((g) => g.name === COMPILED)?.total ?? 0;
  const total = groups.value.reduce((sum, g) => sum + g.total, 0);
  const searching = !problem && (!found || found.truncated !== null);
  if (!total)
    return searching ? (
      <div class="state sp" role="status">
        Searching. {found?.truncated}
      </div>
    ) : (
      <div class="state sp">
        {problem ? (
          <>
            <b>{problem.what}</b>
            <span>{problem.hint}</span>
          </>
        ) : (
          <span>
            No results for <b>{short(query)}</b>.
          </span>
        )}
        <button type="button" class="btn sm" onClick={() => (searchBox.query.value = "")}>
          Clear
        </button>
      </div>
    );
  return (
    <>
      <div class="cols hits">
        <span class="sp" role="status">
          {plural(total - others, "hit")}
          {others > 0 && `, ${count(others)} compiled for others`}
          {searching && ` so far. ${found?.truncated ?? "Searching passes"}`}
          {problem && `. Not searched inside passes: ${problem.what}`}
        </span>
      </div>
      <VirtualList
        id="nav-list"
        class="tree"
        role="listbox"
        label="Search results"
        items={lines.value}
        keyOf={(line) => line.key}
        lineHeight={LINE}
        cursor={cursor.value}
        reveal={null}
        isHead={(line) => line.name !== undefined}
        onCursor={(key) => (cursor.value = key)}
        onKey={(e, line) => {
          if (e.key !== "Enter" || line?.name !== undefined) return;
          e.preventDefault();
          line?.open();
        }}
        draw={(line, i) =>
          line.name !== undefined ? (
            <div
              key={line.key}
              id={`nav-list-${line.key}`}
              role="presentation"
              class={line.shown === undefined ? "trow grp under" : "trow grp"}
              style={{ top: `${i * LINE}px` }}
            >
              <span class="el" title={line.name}>
                {line.name}
              </span>
              {line.shown !== undefined && (
                <span class="num sum">
                  {line.shown < line.total
                    ? `${count(line.shown)} of ${count(line.total)}`
                    : count(line.total)}
                </span>
              )}
            </div>
          ) : (
            <div
              key={line.key}
              id={`nav-list-${line.key}`}
              role="option"
              aria-selected={cursor.value === line.key}
              class={cursor.value === line.key ? "trow cur" : "trow"}
              style={{ top: `${i * LINE}px`, paddingLeft: "16px" }}
              onClick={() => {
                cursor.value = line.key;
                line.open();
              }}
            >
              <span class="n el" title={line.title}>
                <Highlight text={line.title} query={query} />
              </span>
              <span class="t3 small el" title={line.detail}>
                {line.detail}
              </span>
            </div>
          )
        }
      />
    </>
  );
}
