/** The tiles of the kernel whose pass is looked at, and what the selected node has to do with them. */
import { computed } from "@preact/signals";
import type {
  BaseTile,
  RegisterTile,
  SharedTile,
  TileAccess,
  Tiles,
} from "../../../data/messages/tile";
import { emulation } from "../../../parts/emulation/store";
import { columnKey } from "../../../parts/kernel/columns";
import { kernelArtifacts } from "../../../parts/kernel/kernel";
import { lineIndex, linesOf } from "../../../parts/kernel/lines";
import { nodeOrigins } from "../../../parts/kernel/link";
import { data } from "../../../state/actions";
import { can, bundle, currentCompilation, currentKernel, sides, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { selectedNode } from "../history/lineages";

/** The kernel, or what was compiled of it on request. */
const context = computed(() => (currentCompilation.value ?? currentKernel.value)?.id ?? null);

export const watchedTiles = new Watched<Tiles>(
  "api/tiles",
  () =>
    context.value !== null &&
    can("tiles") &&
    view.value.page === "graphs" &&
    view.value.tab === "node" &&
    selectedNode.value !== null,
  (abort) => data().tiles(context.peek()!, abort),
  undefined,
  () => String(context.value),
);

/** What can be drawn of a node. */
export type Drawn =
  | {
      kind: "register";
      key: string;
      name: string;
      tile: RegisterTile;
      own: readonly number[] | null;
    }
  | { kind: "shared"; key: string; name: string; tile: SharedTile; index: number }
  | { kind: "operand"; key: string; name: string; base: BaseTile; dtype: string; of: string };

/** By number of a node. */
interface Index {
  tile: ReadonlyMap<number, number>;
  registers: ReadonlyMap<number, readonly number[] | null>;
  uses: ReadonlyMap<number, readonly number[]>;
  instruction: ReadonlyMap<number, number>;
}

const index = computed<Index | null>(() => {
  const found = watchedTiles.answer.value;
  if (!found) return null;
  const { nodes, uses, wmma } = found;
  return {
    tile: new Map(nodes.node.map((n, i) => [n, nodes.tile[i]!])),
    registers: new Map(nodes.node.map((n, i) => [n, nodes.registers[i] ?? null])),
    uses: new Map(uses.node.map((n, i) => [n, uses.tiles[i]!])),
    instruction: new Map(wmma.node.map((n, i) => [n, wmma.instruction[i]!])),
  };
});

/** The pictures of the selected node, what it is itself first. */
export const drawn = computed<readonly Drawn[]>(() => {
  const found = watchedTiles.answer.value;
  const by = index.value;
  const node = selectedNode.value;
  return found && by && node !== null ? drawnOf(found, by, node) : [];
});

function drawnOf(found: Tiles, by: Index, node: number): Drawn[] {
  const made: Drawn[] = [];
  const core = found.instructions[by.instruction.get(node) ?? -1];
  if (core) {
    const [of, sum] = core.dtypes;
    for (const [name, base, dtype] of [
      ["A", core.a, of],
      ["B", core.b, of],
      ["C, D", core.c, sum],
    ] as const)
      made.push({ kind: "operand", key: name, name, base, dtype, of: core.name });
  }
  const own = by.tile.get(node);
  const all = own === undefined ? (by.uses.get(node) ?? []) : others(found, own);
  for (const i of all) {
    const tile = found.tiles[i];
    if (!tile) continue;
    const key = `${tile.space}${i}`;
    if (tile.space === "shared")
      made.push({ kind: "shared", key, name: `local${tile.number}`, tile, index: i });
    else
      made.push({
        kind: "register",
        key,
        name: `acc${tile.number}`,
        tile,
        own: i === own ? (by.registers.get(node) ?? null) : null,
      });
  }
  return made;
}

/** A tile, and other shapes in which its memory is used. */
function others(found: Tiles, own: number): number[] {
  const { space, number } = found.tiles[own]!;
  const same = found.tiles.flatMap((t, i) => (t.space === space && t.number === number ? [i] : []));
  return [own, ...same.filter((i) => i !== own)];
}

/** The nodes of the graph as it is at this step. */
const present = computed<ReadonlySet<number>>(() => {
  const b = bundle.value;
  const after = sides.value?.after;
  const found = new Set<number>();
  if (!b || !after) return found;
  for (let slot = 0; slot < b.slots; slot++) {
    const c = after.nodeOf(slot);
    if (c >= 0) found.add(b.nodes.id[c]!);
  }
  return found;
});

/** Accesses that are alike, of a tile at this step. */
export interface Alike {
  key: string;
  access: TileAccess;
  count: number;
  /** Whether the selected node is one of them. */
  mine: boolean;
}

export function accessesOf(tile: number): Alike[] {
  const all = watchedTiles.answer.value?.accesses ?? [];
  const groups = new Map<string, Alike>();
  for (const access of all) {
    if (access.tile !== tile || !present.value.has(access.node)) continue;
    const mine = access.node === selectedNode.value;
    const { stores, times, width, conflicts, plain, matrices } = access;
    const key = [mine, stores, times, width, conflicts, plain, matrices ?? 0].join(" ");
    const known = groups.get(key);
    if (known) known.count++;
    else groups.set(key, { key, access, count: 1, mine });
  }
  return [...groups.values()].sort((a, b) => Number(b.mine) - Number(a.mine));
}

/** What the emulator counted at the loads and stores of a shared tile. */
export interface Counted {
  /** The text is not one whose lines are linked to nodes: these are of all shared memory. */
  all: boolean;
  lines: number;
  conflicts: number;
  /** The line (from 1) with most conflicts; of those, one of the selected node. */
  line: number;
}

/** Null where nothing was emulated, or no line moves shared memory. */
export function countedOf(tile: number): Counted | null {
  const e = emulation.value;
  const key = e && `${e.kind}:${e.target}`;
  const artifact = kernelArtifacts.value.find((a) => columnKey(a) === key && a.text === e?.text);
  if (!e) return null;
  const at = new Map(e.counters.lines.line.map((line, i) => [line, i]));
  const lines = new Set<number>(
    artifact ? [] : e.counters.lines.line.filter((_, i) => movesShared(e.counters.lines, i)),
  );
  const own = new Set<number>();
  for (const access of watchedTiles.answer.value?.accesses ?? [])
    if (artifact && access.tile === tile && present.value.has(access.node))
      for (const line of linesOf(lineIndex(artifact), nodeOrigins.value, access.node).lines)
        if (movesShared(e.counters.lines, at.get(line + 1))) {
          lines.add(line + 1);
          if (access.node === selectedNode.value) own.add(line + 1);
        }
  const of = (line: number): number => e.counters.lines.conflicts[at.get(line)!] ?? 0;
  const other = (line: number): number => Number(!own.has(line));
  const sorted = [...lines].sort((a, b) => of(b) - of(a) || other(a) - other(b) || a - b);
  if (!sorted.length) return null;
  return {
    all: !artifact,
    lines: sorted.length,
    conflicts: sorted.reduce((sum, line) => sum + of(line), 0),
    line: sorted[0]!,
  };
}

/** Whether the line that has row `at` of the counters reads or writes shared memory. */
function movesShared(
  { loaded, stored }: { loaded: Record<string, number>[]; stored: Record<string, number>[] },
  at: number | undefined,
): boolean {
  return at !== undefined && Boolean(loaded[at]?.shared || stored[at]?.shared);
}
