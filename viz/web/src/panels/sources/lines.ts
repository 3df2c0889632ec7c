/**
 * Which lines of which source belong to which node. Two ways: a line's own nodes (`lines`), and
 * kernel AST nodes that line and node both come from (`origins`), which also link the targets to
 * each other. Pure.
 */
import type { Artifact, Bundle, Origins } from "../../data/types";

/** Lines (0-based) of one artifact by node id. */
export interface LineIndex {
  exact: ReadonlyMap<number, readonly number[]>;
  byOrigin: ReadonlyMap<number, readonly number[]>;
}

export function indexLines(a: Pick<Artifact, "lines" | "origins">): LineIndex {
  return { exact: invert(a.lines), byOrigin: invert(a.origins) };
}

function invert(lists: readonly (readonly number[])[]): Map<number, number[]> {
  const map = new Map<number, number[]>();
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
export function originsOf(
  origins: ReadonlyMap<number, readonly number[]>,
  id: number,
): readonly number[] {
  return origins.get(id) ?? [id];
}

/** Lines of the node, ascending: its own if the text has some, else those that share an origin. */
export function linesOf(
  index: LineIndex,
  origins: ReadonlyMap<number, readonly number[]>,
  id: number,
): readonly number[] {
  const exact = index.exact.get(id);
  if (exact?.length) return exact;
  const lines = new Set<number>();
  for (const origin of originsOf(origins, id))
    for (const line of index.byOrigin.get(origin) ?? []) lines.add(line);
  return [...lines].sort((a, z) => a - z);
}

/** Lines of another artifact that come from the same AST nodes as line `line` of this one. */
export function sameOrigin(from: Artifact, line: number, index: LineIndex): readonly number[] {
  const lines = new Set<number>();
  for (const origin of from.origins[line] ?? [])
    for (const other of index.byOrigin.get(origin) ?? []) lines.add(other);
  return [...lines].sort((a, z) => a - z);
}

interface Graph {
  slots(): Iterable<number>;
  nodeOf(slot: number): number;
}

/** Slots of the graph that a source line stands for: exact nodes if any are there, else by origin. */
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
  const related: number[] = [];
  for (const slot of graph.slots()) {
    const id = b.nodes.id[graph.nodeOf(slot)];
    if (id === undefined) continue;
    if (exact.has(id)) hits.push(slot);
    else if (from.size && originsOf(origins, id).some((o) => from.has(o))) related.push(slot);
  }
  return hits.length ? hits : related;
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
