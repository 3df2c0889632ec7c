/**
 * The one search of the page. What a query finds in the run, in groups: by name, which the page knows
 * at once, and inside passes, which the trace answers. The navigator and the palette both show it.
 */
import {
  followLink,
  go,
  goStep,
  openContext,
  openMatch,
  openNode,
  openRewrite,
} from "../../state/actions";
import { baseName, plural, short } from "../../state/format";
import { ruleAt } from "../../state/link/links";
import { compiledRowOf, firings, rows, ruleName, rules } from "../../state/state";
import { ancestry } from "../../data/rows";
import type { Row } from "../../data/messages/run";
import type { SearchHit, SearchResult } from "../../data/messages/search";
import { showLines } from "../kernel/show";
import { openSources } from "../kernel/room";
import { besideGraphs, sought } from "../passtext/store";
import { ranked, wordsOf } from "./rank";
import { searchSteps } from "./steps";

export interface Hit {
  /** Unique in its group. */
  key: string;
  title: string;
  detail: string;
  /** The kernel or schedule under whose name the hit is listed; "" for hits that stand alone. */
  under?: string;
  open: () => void;
}

export interface HitGroup {
  name: string;
  hits: readonly Hit[];
  /** How many there are, of which `hits` are the best. */
  total: number;
}

/** Hits that are listed of a group. */
const MOST = 200;
/** Kinds of hits inside passes, with the names of their groups. Names are found here. */
const INSIDE: readonly (readonly [kind: SearchHit["kind"], group: string])[] = [
  ["call", "Calls"],
  ["rule", "Passes that match a rule"],
  ["op", "Passes with an op"],
  ["node", "Nodes"],
  ["source", "Lines of sources"],
  ["text", "Lines that passes changed"],
  ["file", "Places in files"],
];
/** Hits of every kind in kernels that were compiled on request, which the other groups leave out. */
export const COMPILED = "Compiled for others";

/**
 * @param inside what the trace answered to the same query; null while it is awaited
 * @returns no group without a hit
 */
export function findInRun(query: string, inside: SearchResult | null): HitGroup[] {
  const words = wordsOf(query);
  if (!words.length) return [];
  const groups = [
    ["Rules", ranked(ruleHits(), words)],
    ["Kernels", rowHits(words, (r) => r.label === "kernel")],
    ["Passes", rowHits(words, (r) => r.kind === "rewrite")],
    ["Contexts", rowHits(words, (r) => r.kind === "context" && r.label !== "kernel")],
  ] as const;
  const steps = stepHits(words);
  const found = (inside?.hits ?? []).filter((hit) => rows.value[hit.row]);
  const own = found.filter((hit) => !isCompiled(hit.row));
  const compiled = found.filter((hit) => isCompiled(hit.row));
  return [
    ...groups.map(([name, hits]) => group(name, hits, hits.length)),
    ...INSIDE.map(([kind, name]) => group(name, hitsInside(own, kind), inside?.totals[kind] ?? 0)),
    group("Steps of this pass", steps.hits, steps.total),
    group(COMPILED, compiled.map(hitInside), inside?.totals["compiled"] ?? 0),
  ].filter((g) => g.hits.length);
}

const group = (name: string, hits: readonly Hit[], total: number): HitGroup => ({
  name,
  hits: hits.slice(0, MOST),
  total,
});

function ruleHits(): Hit[] {
  return [...rules.value.values()].map((rule) => ({
    key: `rule ${rule.id}`,
    title: short(rule.name),
    detail: `${short(baseName(rule.file), 60)}:${rule.line} · ${plural(rule.matches, "match", "matches")}`,
    open: () => openRule(rule.id),
  }));
}

/** Contexts and passes by their name and their calls, not by the name of what they are in. */
function rowHits(words: readonly string[], wanted: (row: Row) => boolean): Hit[] {
  const named = rows.value.filter(
    (row) => row.status !== "gone" && !isCompiled(row.row) && wanted(row),
  );
  const texts = named.map((row) => ({ row, title: row.name, detail: row.calls }));
  return ranked(texts, words).map(({ row }) => ({
    key: `row ${row.row}`,
    title: short(row.name),
    detail: [short(row.calls, 60) || where(row.row), plural(row.steps, "step")]
      .filter(Boolean)
      .join(" · "),
    open: () => openRow(row),
  }));
}

/** Whether a row is of a kernel that was compiled on request. */
const isCompiled = (row: number): boolean => compiledRowOf.value[row] !== -1;

const hitsInside = (found: readonly SearchHit[], kind: SearchHit["kind"]): Hit[] =>
  found.filter((hit) => hit.kind === kind).map(hitInside);

function hitInside(hit: SearchHit, i: number): Hit {
  const { kind } = hit;
  const row = rows.value[hit.row]!;
  const title = kind === "call" ? hit.text.replace(/ at \S*\//, " at ") : hit.text;
  const kernel = ancestry(rows.value, row.row).find((r) => r.kind === "context");
  const under = kind === "node" ? short(kernel?.name ?? "", 60) : "";
  const detail = [row.name, under ? "" : where(row.row)]
    .filter(Boolean)
    .map((name) => short(name, 60));
  if (hit.passes > 1) detail.push(`in ${plural(hit.passes, "pass", "passes")}`);
  const open = (): void => {
    if (row.kind === "rewrite" && hit.step !== null && hit.node !== null)
      openNode(row.id, hit.step, hit.node);
    else openRow(row);
    if (hit.source && kind === "text") {
      besideGraphs.value = true;
      openSources();
      sought.value = { rewrite: row.id, when: hit.source.target, line: hit.source.line };
    } else if (hit.source) showLines(hit.source);
    const rule = kind === "rule" && [...rules.peek().values()].find((r) => r.name === hit.text);
    if (rule) go({ rule: rule.id });
  };
  if (hit.source) detail.unshift(`${hit.source.target}, line ${hit.source.line}`);
  return { key: `${kind} ${i}`, title: short(title), detail: detail.join(", "), under, open };
}

function stepHits(words: readonly string[]): { hits: Hit[]; total: number } {
  const all = [...firings.value].map(([rule, steps]) => ({ name: ruleName(rule), steps }));
  const { best, total } = searchSteps(all, words, MOST);
  const hits = best.map(({ step, name }) => ({
    key: `step ${step}`,
    title: `${step} ${name}`,
    detail: "",
    open: () => goStep(step),
  }));
  return { hits, total };
}

/** Of a pass the context around it, of passes compiled on request their kernel. */
function where(row: number): string {
  const path = ancestry(rows.value, row);
  const named = path[0]?.kind === "rewrite" || path[0]?.target;
  return named ? (path[1]?.name ?? "") : "";
}

function openRow(row: Row): void {
  if (row.kind === "rewrite") openRewrite(row.id);
  else openContext(row.row);
}

/** Shows a match of the rule: in this pass, else in the nearest one; one that never matched has a
 * page of its own. */
function openRule(rule: number): void {
  void openMatch(rule).then((shown) => shown || followLink(ruleAt(rule)));
}
