/**
 * What a picture of a tile shows of each element: its number and colour, a sentence, and which
 * others go with it. Pure.
 */
import type { RegisterTile, SharedTile, TileAccess } from "../../../data/messages/tile";
import { plural } from "../../../state/format";
import { bankOf, BANK_BYTES, BANKS, byteOf, lanesText, ownerOf, registersOf } from "./places";

export interface Face {
  rows: number;
  columns: number;
  /** The grid that is drawn stronger: base tiles, or pieces. */
  block: readonly [rows: number, columns: number];
  /** What colour and number an element has; -1: neither. */
  number: (row: number, column: number) => number;
  say: (row: number, column: number) => string;
  /** What a choice of this element lights: all with this number. */
  group: (row: number, column: number) => number;
  /** "lane 14", and what it has. */
  nameGroup: (group: number) => string;
  sayGroup: (group: number) => string;
  /** Whether the node itself is about the element, or it is in conflict. */
  marked: (row: number, column: number) => boolean;
  /** Whether what is marked is in conflict. */
  conflicts: boolean;
}

export type Shown = "lane" | "register";
/** Of what lanes read or write at once. */
export type Numbered = "lane" | "bank";

type Registers = Pick<RegisterTile, "rows" | "columns" | "base"> & { shown: readonly number[] };

const place = (row: number, column: number): string => `Row ${row}, column ${column}: `;

/**
 * A tile in registers. `warps`: how many have one; `stacked`: as a group of all of them holds it, one
 * below the other. `own`: the registers of the node; null: all.
 */
export function registerFace(
  tile: Registers,
  warps: number,
  stacked: boolean,
  shows: Shown,
  own: readonly number[] | null,
): Face {
  const mine = own && new Set(own);
  const owner = (row: number, column: number) => ownerOf(tile, row % tile.rows, column);
  const whose = warps === 1 ? "" : "each warp, ";
  const all = registersOf(tile);
  const nameGroup = (group: number): string => {
    const lane = group % tile.base.lanes;
    const of = stacked ? ` of warp ${Math.floor(group / tile.base.lanes)}` : "";
    return `${lanesText(tile.base.copies.map((copy) => lane + copy))}${of}`;
  };
  return {
    rows: Math.min(stacked ? tile.rows * warps : tile.shown[0]!, MOST),
    columns: Math.min(tile.shown[1]!, MOST),
    block: [tile.base.rows, tile.base.columns],
    number: (row, column) => owner(row, column)[shows],
    say: (row, column) => {
      const { lanes, register } = owner(row, column);
      const warp = stacked ? `warp ${Math.floor(row / tile.rows)}, ` : whose;
      return `${place(row, column)}${warp}${lanesText(lanes)}, register ${register}`;
    },
    group: (row, column) =>
      owner(row, column).lane + (stacked ? Math.floor(row / tile.rows) * tile.base.lanes : 0),
    nameGroup,
    sayGroup: (group) =>
      `${nameGroup(group)}: ${plural(all, "element")}${tile.base.copies.length > 1 ? " each" : ""}, ` +
      (all > 1 ? `registers 0 to ${all - 1}` : "register 0"),
    marked: (row, column) => mine?.has(owner(row, column).register) ?? false,
    conflicts: false,
  };
}

/** Rows and columns that are drawn, whatever an exported file says. */
const MOST = 256;

/**
 * A tile in shared memory by banks. With an access: which lane reads or writes each element, where
 * lanes of a warp do that at once, or (`numbered`) the banks of these elements.
 */
export function sharedFace(
  tile: SharedTile,
  swizzled: boolean,
  access: TileAccess | null,
  numbered: Numbered = "lane",
): Face {
  const [rows, columns] = [Math.min(tile.shown[0], MOST), Math.min(tile.shown[1], MOST)];
  const byte = (row: number, column: number): number => byteOf(tile, row, column, swizzled);
  const lanes = access ? lanesOf(tile, access) : null;
  const meets = access ? conflictsOf(tile, access, byte) : null;
  const lane = (row: number, column: number): number =>
    lanes?.get(row * tile.columns + column) ?? -1;
  const bank = (row: number, column: number): number => bankOf(byte(row, column));
  const inBank = new Map<number, number>();
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      inBank.set(bank(row, column), (inBank.get(bank(row, column)) ?? 0) + 1);
  return {
    rows,
    columns,
    block: [8, tile.piece],
    number: (row, column) => {
      if (!lanes || (numbered === "bank" && lane(row, column) >= 0)) return bank(row, column);
      return lane(row, column);
    },
    say: (row, column) => {
      const at = byte(row, column);
      const by = lanes && lane(row, column) >= 0 ? `, lane ${lane(row, column)}` : "";
      const waits = meets?.has(row * tile.columns + column) ? ", in conflict" : "";
      return `${place(row, column)}byte ${at}, bank ${bankOf(at)}${by}${waits}`;
    },
    group: lanes ? lane : bank,
    nameGroup: (group) => `${lanes ? "lane" : "bank"} ${group}`,
    sayGroup: (group) =>
      access
        ? sayAccess(group, access)
        : `bank ${group}: ${plural(inBank.get(group) ?? 0, "element")} of the tile`,
    marked: (row, column) => meets?.has(row * tile.columns + column) ?? false,
    conflicts: true,
  };
}

/** What a lane has to do with the bytes where it begins. */
const sayAccess = (lane: number, { width, matrices }: TileAccess): string =>
  matrices
    ? `lane ${lane} names a row of ${plural(width, "byte")} of a matrix, for the whole warp`
    : `lane ${lane}: ${plural(width, "byte")} at once`;

/** The elements of an access whose bank has to serve another word in the same turn. */
function conflictsOf(
  tile: SharedTile,
  { first, width }: TileAccess,
  byte: (row: number, column: number) => number,
): Set<number> {
  const together = Math.max(1, Math.floor((BANKS * BANK_BYTES) / Math.max(BANK_BYTES, width)));
  const count = Math.max(1, Math.floor(width / tile.item));
  const elements = first.flatMap((from, lane) =>
    from < 0
      ? []
      : Array.from({ length: count }, (_, i) => {
          const at = byte(Math.floor((from + i) / tile.columns), (from + i) % tile.columns);
          const turn = Math.floor(lane / together);
          return {
            element: from + i,
            word: Math.floor(at / BANK_BYTES),
            of: `${turn} ${bankOf(at)}`,
          };
        }),
  );
  const words = new Map<string, Set<number>>();
  for (const { word, of } of elements) words.set(of, (words.get(of) ?? new Set()).add(word));
  return new Set(elements.filter((e) => words.get(e.of)!.size > 1).map((e) => e.element));
}

/** Of each element that lanes move at once, the first lane that does. */
function lanesOf(tile: SharedTile, access: TileAccess): Map<number, number> {
  const found = new Map<number, number>();
  const count = Math.max(1, Math.floor(access.width / tile.item));
  access.first.forEach((first, lane) => {
    for (let i = 0; first >= 0 && i < count; i++)
      if (!found.has(first + i)) found.set(first + i, lane);
  });
  return found;
}
