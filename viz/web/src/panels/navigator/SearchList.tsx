/** Answers of the search box, in trace order; a rule opens its pass with the filter on. */
import { signal } from "@preact/signals";
import { go, openContext, openNode, openRewrite } from "../../state/actions";
import { count, plural, short } from "../../state/format";
import { compiledRowOf, rows, rules } from "../../state/state";
import { ancestry } from "../../data/rows";
import type { SearchResult } from "../../data/types";
import { Highlight } from "../../ui/Highlight";
import { VirtualList } from "../../ui/VirtualList";
import { query, result, searchError } from "./query";

const LINE = 24;
const cursor = signal<string | null>(null);

type Hit = SearchResult["hits"][number] & { key: string };

export function SearchList() {
  const found = result.value;
  const problem = searchError.value ?? found?.problem;
  if (problem)
    return (
      <div class="state sp">
        <b>{problem.what}</b>
        <span>{problem.hint}</span>
      </div>
    );
  if (!found || (found.truncated && !found.hits.length))
    return <div class="state sp">Searching. {found?.truncated}</div>;
  if (!found.hits.length)
    return (
      <div class="state sp">
        <span>
          Nothing in this run matches <b>{query.value.trim()}</b>.
        </span>
        <button type="button" class="btn sm" onClick={() => (query.value = "")}>
          Clear
        </button>
      </div>
    );
  const hits: Hit[] = found.hits.map((h, i) => ({ ...h, key: `h${i}` }));
  return (
    <>
      <div class="cols">
        <span class="sp">
          {found.total > hits.length
            ? `${count(hits.length)} of ${plural(found.total, "hit")}`
            : plural(found.total, "hit")}
          {found.truncated && ` so far. ${found.truncated}`}
        </span>
      </div>
      <VirtualList
        id="nav-list"
        class="tree"
        role="listbox"
        label="Search results"
        items={hits}
        keyOf={(h) => h.key}
        lineHeight={LINE}
        cursor={cursor.value}
        reveal={null}
        onCursor={(key) => (cursor.value = key)}
        onKey={(e, hit) => {
          if (e.key !== "Enter" || !hit) return;
          e.preventDefault();
          open(hit);
        }}
        draw={(hit, i) => (
          <div
            key={hit.key}
            id={`nav-list-${hit.key}`}
            role="option"
            aria-selected={cursor.value === hit.key}
            class={cursor.value === hit.key ? "trow cur" : "trow"}
            style={{ top: `${i * LINE}px`, paddingLeft: "16px" }}
            onClick={() => {
              cursor.value = hit.key;
              open(hit);
            }}
          >
            <span class="badge">{hit.kind}</span>
            <span class="n el" title={short(hit.text, 1000)}>
              <Highlight text={short(brief(hit))} query={query.value} />
            </span>
            {compiledFor(hit.row) && (
              <span class="badge" title="In passes that were compiled here, on request">
                {compiledFor(hit.row)}
              </span>
            )}
            <span class="t3 small el">{where(hit.row)}</span>
          </div>
        )}
      />
    </>
  );
}

/** "relu at examples/digits.py:29": the line is what tells such hits apart, so folders give way. */
function brief(hit: Hit): string {
  return hit.kind === "call" ? hit.text.replace(/ at \S*\//, " at ") : hit.text;
}

/** The target of the passes compiled on request that a hit is in; "" for the program's own. */
function compiledFor(row: number): string {
  return short(rows.value[compiledRowOf.value[row] ?? -1]?.target ?? "");
}

function where(row: number): string {
  const path = ancestry(rows.value, row);
  const inside = path[0]?.kind === "rewrite" ? path[1] : undefined;
  return short(inside?.name ?? "");
}

function open(hit: Hit): void {
  const row = rows.peek()[hit.row];
  if (row?.kind === "rewrite" && hit.step !== null && hit.node !== null)
    openNode(row.id, hit.step, hit.node);
  else if (row?.kind === "rewrite") openRewrite(row.id);
  else if (row) openContext(row.row);
  const rule = hit.kind === "rule" && [...rules.peek().values()].find((r) => r.name === hit.text);
  if (rule) go({ rule: rule.id });
}
