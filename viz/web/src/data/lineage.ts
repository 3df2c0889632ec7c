/**
 * The history of a node across passes: a walk over lineages, back to the graph in which the node
 * began and on to the last pass of its kernel. The same as viz/views/nodes/history.py. Pure; never guesses.
 */
import type { Lineage } from "./messages/lineage";

export interface HistoryRow {
  /** How the node came: with the first graph, in place of another, inside what a match made, with
   * other sources, or changed between two passes. */
  kind: "input" | "became" | "created" | "rebuilt" | "between";
  rewrite: number;
  step: number;
  /** Rule id, negative for none. */
  rule: number;
  /** Trace-wide node id. */
  node: number;
  op: string;
  /** "file:line" of the user's program, or "". */
  line: string;
}

export interface History {
  /** Oldest first. */
  rows: HistoryRow[];
  /** Kernels that the last row's graph goes into, beyond the one that is followed. */
  kernels: { scope: number; rewrite: number; node: number }[];
  /** A scope whose lineage would tell more; null: nothing is missing. */
  needs: number | null;
  truncated: string | null;
}

/** Lineages at hand by scope; null for one that cannot be had. */
export type Lineages = ReadonlyMap<number, Lineage | null>;

const MOST_ROWS = 2000;
/** Followed to each side of the one that is looked at, itself included. */
const MOST_SCOPES = 4;
/** Lineages that one history may ask for. */
export const MOST_NEEDED = 2 * MOST_SCOPES + 1;

/** What happened to node `uid`, as seen in `rewrite` of `scope`. */
export function nodeHistory(
  all: Lineages,
  scope: number,
  rewrite: number,
  uid: number,
): History | null {
  const own = all.get(scope);
  if (!own) return null;
  const here = positionOf(own, uid);
  const history: History = { rows: [], kernels: [], needs: null, truncated: own.truncated };
  if (here < 0) return history;
  past(all, own, here, history);
  future(all, own, here, rewrite, history);
  return history;
}

function past(all: Lineages, from: Lineage, at: number, into: History): void {
  const rows: HistoryRow[] = [];
  let own = from;
  for (let scopes = 0; scopes < MOST_SCOPES; scopes++) {
    let event: number;
    while ((event = own.node.event[at] ?? -1) >= 0 && rows.length < MOST_ROWS) {
      rows.push(rowOf(own, event, at));
      at = own.event.old[event]!;
    }
    rows.push({
      kind: "input",
      rewrite: own.node.rewrite[at]!,
      step: 0,
      rule: -1,
      ...named(own, at),
    });
    if (!own.from) break;
    const earlier = all.get(own.from.scope);
    if (earlier === undefined) into.needs ??= own.from.scope;
    if (!earlier) break;
    at = positionOf(earlier, own.node.id[at]!);
    if (at < 0) break;
    own = earlier;
  }
  into.rows = rows.reverse();
}

function future(all: Lineages, from: Lineage, here: number, rewrite: number, into: History): void {
  let own = from;
  let at = here;
  let start = Math.max(firstOf(own, rewrite), (own.node.event[here] ?? -1) + 1);
  for (let scopes = 0; scopes < MOST_SCOPES && into.rows.length < MOST_ROWS; scopes++) {
    const by = eventsByOld(own);
    for (;;) {
      const event = by.get(at)?.find((e) => e >= start);
      if (event === undefined || into.rows.length >= MOST_ROWS) break;
      at = own.event.new[event]!;
      start = event + 1;
      into.rows.push(rowOf(own, event, at));
    }
    const uid = own.node.id[at]!;
    const kernels = own.kernels.filter((k) => k.node.includes(at));
    const [next, ...others] = kernels;
    if (!next) break;
    into.kernels = others.map((k) => ({ scope: k.scope, rewrite: k.rewrite, node: uid }));
    const kernel = all.get(next.scope);
    if (kernel === undefined) into.needs ??= next.scope;
    const inside = kernel ? positionOf(kernel, uid) : -1;
    into.rows.push({ kind: "input", rewrite: next.rewrite, step: 0, rule: -1, ...named(own, at) });
    if (!kernel || inside < 0) break;
    own = kernel;
    at = inside;
    start = 0;
  }
}

/** The first event of a rewrite, or of the next one that has any. */
function firstOf(own: Lineage, rewrite: number): number {
  const at = own.event.rewrite.indexOf(rewrite);
  if (at >= 0) return at;
  const later = own.event.rewrite.findIndex((r) => r > rewrite);
  return later >= 0 ? later : own.event.rewrite.length;
}

function rowOf(own: Lineage, event: number, node: number): HistoryRow {
  const rule = own.event.rule[event]!;
  const replaced = own.event.new[event] === node;
  const kind = !replaced ? "created" : rule === -1 ? "rebuilt" : rule < 0 ? "between" : "became";
  return {
    kind,
    rewrite: own.event.rewrite[event]!,
    step: own.event.step[event]!,
    rule,
    ...named(own, node),
  };
}

function named(own: Lineage, node: number): Pick<HistoryRow, "node" | "op" | "line"> {
  return {
    node: own.node.id[node]!,
    op: own.ops[own.node.op[node]!] ?? "?",
    line: own.lines[own.node.line[node]!] ?? "",
  };
}

const positions = new WeakMap<Lineage, Map<number, number>>();
const olds = new WeakMap<Lineage, Map<number, number[]>>();

function positionOf(own: Lineage, uid: number): number {
  let map = positions.get(own);
  if (!map) positions.set(own, (map = new Map(own.node.id.map((id, i) => [id, i]))));
  return map.get(uid) ?? -1;
}

/** Events in which each node was replaced, ascending. */
function eventsByOld(own: Lineage): Map<number, number[]> {
  let map = olds.get(own);
  if (map) return map;
  map = new Map<number, number[]>();
  olds.set(own, map);
  for (const [event, old] of own.event.old.entries()) {
    const list = map.get(old);
    if (list) list.push(event);
    else map.set(old, [event]);
  }
  return map;
}
