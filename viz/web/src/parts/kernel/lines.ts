/**
 * Which lines of which source belong to which node. Two ways: a line's own nodes (`lines`), and
 * kernel AST nodes that line and node both come from (`origins`), which also link the targets to
 * each other. Pure.
 */
import type { Bundle } from "../../data/messages/bundle";
import type { Artifact, Origins } from "../../data/messages/kernel";
import { PYTHON } from "./userText";

/** Lines (0-based) of one artifact by node id, and by the AST nodes that they come from. */
export interface LineIndex {
  exact: ReadonlyMap<number, readonly number[]>;
  byOrigin: ReadonlyMap<number, readonly number[]>;
  /** By the whole set of AST nodes, as `setKey` writes it. */
  bySet: ReadonlyMap<string, readonly number[]>;
  /** How many AST nodes each line comes from. */
  sizes: readonly number[];
  /** More lines than these say nothing about where a node went: a third of the text. */
  most: number;
}

/** What to light: the lines, ascending, and how many more were too many to be of use. */
export interface Lit {
  lines: readonly number[];
  cut: number;
}

export const NOTHING: Lit = { lines: [], cut: 0 };
/** Of a short text so many lines may always be lit. */
const ALWAYS = 4;

export function indexLines(a: Pick<Artifact, "lines" | "origins">): LineIndex {
  const sets = a.origins.map((ids) => [...new Set(ids)]);
  return {
    exact: invert(a.lines),
    byOrigin: invert(sets),
    bySet: invert(sets.map((ids) => (ids.length ? [setKey(ids)] : []))),
    sizes: sets.map((ids) => ids.length),
    most: Math.max(ALWAYS, Math.floor(a.lines.length / 3)),
  };
}

const setKey = (ids: readonly number[]): string =>
  [...new Set(ids)].sort((x, y) => x - y).join(" ");

function invert<K>(lists: readonly (readonly K[])[]): Map<K, number[]> {
  const map = new Map<K, number[]>();
  lists.forEach((ids, line) => {
    for (const id of ids) {
      const at = map.get(id);
      if (at) {
        if (at.at(-1) !== line) at.push(line);
      } else map.set(id, [line]);
    }
  });
  return map;
}

/** AST nodes that a node comes from; the node itself if nothing else is known. */
function originsOf(origins: ReadonlyMap<number, readonly number[]>, id: number): readonly number[] {
  return origins.get(id) ?? [id];
}

/** Lines of the node: its own if the text has some, else those that come from the same. */
export function linesOf(
  index: LineIndex,
  origins: ReadonlyMap<number, readonly number[]>,
  id: number,
): Lit {
  const exact = index.exact.get(id);
  return exact?.length ? { lines: exact, cut: 0 } : fromOrigins(index, originsOf(origins, id));
}

/**
 * Lines of another artifact that come from the same AST nodes as line `line` of this one. Of a line of
 * the user's program, all that it became, however many.
 */
export function sameOrigin(from: Artifact, line: number, index: LineIndex): Lit {
  const ids = from.origins[line] ?? [];
  return from.kind === PYTHON ? allFrom(index, ids) : fromOrigins(index, ids);
}

/** All lines that come from any of these AST nodes. */
function allFrom(index: LineIndex, from: readonly number[]): Lit {
  const lines = new Set(from.flatMap((origin) => index.byOrigin.get(origin) ?? []));
  return { lines: [...lines].sort((x, y) => x - y), cut: 0 };
}

/**
 * Lines that come from exactly these AST nodes, however many; where there are none, from some of
 * them, the lines that share the larger part of their origin first, as long as they are few enough.
 */
function fromOrigins(index: LineIndex, from: readonly number[]): Lit {
  const equal = index.bySet.get(setKey(from)) ?? [];
  if (equal.length) return { lines: equal, cut: 0 };
  const shared = new Map<number, number>();
  const wanted = new Set(from);
  for (const origin of wanted)
    for (const line of index.byOrigin.get(origin) ?? [])
      shared.set(line, (shared.get(line) ?? 0) + 1);
  const alike = new Map<number, number[]>();
  for (const [line, n] of shared) {
    const share = n / (wanted.size + index.sizes[line]! - n);
    const tier = alike.get(share);
    if (tier) tier.push(line);
    else alike.set(share, [line]);
  }
  const tiers = [...alike].sort(([x], [y]) => y - x).map(([, lines]) => lines);
  return bounded(tiers, index.most);
}

/** Whole tiers, best first, up to `most` lines. */
function bounded(tiers: readonly (readonly number[])[], most: number): Lit {
  const lines: number[] = [];
  let cut = 0;
  for (const tier of tiers)
    if (!cut && lines.length + tier.length <= most) lines.push(...tier);
    else cut += tier.length;
  return { lines: lines.sort((x, y) => x - y), cut };
}

interface Graph {
  slots(): Iterable<number>;
  nodeOf(slot: number): number;
}

/**
 * Slots of the graph that a source line stands for: its own nodes if any are there, else nodes
 * that come from the same AST nodes, else from some of them.
 */
export function slotsOfLine(
  b: Bundle,
  graph: Graph,
  origins: ReadonlyMap<number, readonly number[]>,
  a: Artifact,
  line: number,
): number[] {
  const exact = new Set(a.lines[line] ?? []);
  const from = new Set(a.origins[line] ?? []);
  const hits: number[] = [];
  const equal: number[] = [];
  const related: number[] = [];
  for (const slot of graph.slots()) {
    const id = b.nodes.id[graph.nodeOf(slot)];
    if (id === undefined) continue;
    if (exact.has(id)) hits.push(slot);
    if (!from.size) continue;
    const own = new Set(originsOf(origins, id));
    const shared = [...own].filter((o) => from.has(o)).length;
    if (shared === from.size && shared === own.size) equal.push(slot);
    else if (shared) related.push(slot);
  }
  return [hits, equal, related].find((slots) => slots.length) ?? [];
}

export function originMap(o: Origins | null): ReadonlyMap<number, readonly number[]> {
  return new Map(o?.node.map((id, i) => [id, o.origin[i] ?? []]) ?? []);
}

const indexes = new WeakMap<Artifact, LineIndex>();

export function lineIndex(a: Artifact): LineIndex {
  let index = indexes.get(a);
  if (!index) indexes.set(a, (index = indexLines(a)));
  return index;
}
