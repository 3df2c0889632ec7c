/**
 * Where the elements of a tile lie: who holds an element, and at which byte and bank it is. Follows
 * the tables that the server computes. Pure.
 */
import type { BaseTile, RegisterTile, SharedTile } from "../../../data/messages/tile";

/** Banks of shared memory, of so many bytes each. */
export const BANKS = 32;
export const BANK_BYTES = 4;

export interface Owner {
  /** The first lane that holds the element, and all of them. */
  lane: number;
  lanes: readonly number[];
  register: number;
}

type Grid = Pick<RegisterTile, "rows" | "columns" | "base">;

/** Base tiles of a tile. */
export const tilesOf = ({ rows, columns, base }: Grid): number =>
  Math.floor(rows / base.rows) * Math.floor(columns / base.columns);

/** Elements of a tile that each lane holds. */
export const registersOf = (tile: Grid): number => tilesOf(tile) * tile.base.count;

/** Who holds an element, of the warp that has the tile. */
export function ownerOf(tile: Grid, row: number, column: number): Owner {
  const { base } = tile;
  const across = Math.floor(tile.columns / base.columns);
  const number = Math.floor(row / base.rows) * across + Math.floor(column / base.columns);
  const at = (row % base.rows) * Math.min(base.columns, MOST) + (column % base.columns);
  const lane = base.lane[at] ?? 0;
  return {
    lane,
    lanes: base.copies.map((copy) => lane + copy),
    register: (base.position[at] ?? 0) * tilesOf(tile) + number,
  };
}

/** Rows and columns that are shown of anything: as MOST of viz/coredialect/tiles/layouts.py. */
const MOST = 256;

/** An operand or the product of a matrix instruction, which is one base tile. */
export const alone = (base: BaseTile): Grid => ({ rows: base.rows, columns: base.columns, base });

/** The byte of an element from the start of its stage; `swizzled` false: in rows as they are. */
export function byteOf(tile: SharedTile, row: number, column: number, swizzled = true): number {
  const { piece, keys } = tile;
  const number = Math.floor(column / piece);
  const moved =
    swizzled && keys > 1
      ? Math.floor(number / keys) * keys + ((number % keys) ^ (tile.key[row] ?? 0))
      : number;
  return (row * tile.columns + moved * piece + (column % piece)) * tile.item;
}

export const bankOf = (byte: number): number => Math.floor(byte / BANK_BYTES) % BANKS;

/** "lane 14", "lanes 12 to 15", "lanes 3, 19". */
export function lanesText(lanes: readonly number[]): string {
  if (lanes.length === 1) return `lane ${lanes[0]}`;
  const sorted = [...lanes].sort((a, b) => a - b);
  const first = sorted[0]!;
  if (sorted.every((lane, i) => lane === first + i))
    return `lanes ${first} to ${first + sorted.length - 1}`;
  return sorted.length > SAID
    ? `lanes ${sorted.slice(0, SAID).join(", ")} and ${sorted.length - SAID} more`
    : `lanes ${sorted.join(", ")}`;
}

const SAID = 8;
