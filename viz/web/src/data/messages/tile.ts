/** The tiles of a kernel: where their elements lie, and which nodes stand for them. */
export interface Tiles {
  context: number;
  tiles: Tile[];
  /** Addresses in tiles, their loads and stores, and single registers of them; parallel arrays. */
  nodes: {
    node: number[];
    /** Index into `tiles`. */
    tile: number[];
    /** The registers that the node reads or writes; null: all of them, or it is in shared memory. */
    registers: (number[] | null)[];
  };
  /** Values that are computed from elements of tiles. */
  uses: { node: number[]; tiles: number[][] };
  /** What a warp reads or writes of a shared tile with one node. */
  accesses: TileAccess[];
  instructions: MatrixInstruction[];
  /** The nodes that are a matrix instruction. */
  wmma: { node: number[]; instruction: number[] };
  /** What is not here, and why. */
  leftOut: string | null;
}

export type Tile = RegisterTile | SharedTile;

interface AnyTile {
  /** ST, SV, RT, RV: a tile or a vector, shared or in registers. */
  kind: string;
  /** Of its memory among those of its space. */
  number: number;
  dtype: string;
  rows: number;
  columns: number;
  /** How many rows and columns are shown: the page draws no more than 256. */
  shown: [rows: number, columns: number];
}

export interface RegisterTile extends AnyTile {
  space: "register";
  /** "row", "col" or "acc": operand A, operand B or product of a matrix instruction. */
  layout: string;
  /** Each of so many warps has such a tile. */
  warps: number;
  base: BaseTile;
}

/**
 * The tile that a layout repeats. Its elements row by row: the first lane that holds each, and at
 * which of its positions. Register r of a lane is position floor(r / n) of tile r % n of the n base
 * tiles, which are numbered row by row.
 */
export interface BaseTile {
  rows: number;
  columns: number;
  lanes: number;
  /** Positions of each lane. */
  count: number;
  lane: number[];
  position: number[];
  /** How much further the other lanes are that hold the same element; 0 is the first itself. */
  copies: number[];
}

/**
 * Rows are cut into pieces; piece c of a row lies where piece c XOR its key would, within groups of
 * `keys` pieces.
 */
export interface SharedTile extends AnyTile {
  space: "shared";
  stages: number;
  /** Bytes of an element. */
  item: number;
  /** Elements of a piece. */
  piece: number;
  /** How many keys there are; 1: nothing is moved. */
  keys: number;
  /** Of each row that is shown. */
  key: number[];
  /** Lanes of a warp. */
  lanes: number;
}

export interface TileAccess {
  node: number;
  tile: number;
  stores: boolean;
  /** How often each lane moves `width` bytes. */
  times: number;
  width: number;
  /** Turns of shared memory beyond the first of each; `plain`: without the swizzle. */
  conflicts: number;
  plain: number;
  /** Of the time with most conflicts: the element (row by row) where each lane begins; -1: none. */
  first: number[];
  /** How many matrices a warp loads together, each lane naming a row of one for all of them; 0 where
   * each lane gets what it reads. Files made before it was told have none. */
  matrices?: number;
}

export interface MatrixInstruction {
  name: string;
  /** m, n, k. */
  dims: [number, number, number];
  /** Of A and B, and of the product. */
  dtypes: [string, string];
  a: BaseTile;
  b: BaseTile;
  c: BaseTile;
}
