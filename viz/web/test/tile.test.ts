import { describe, expect, it } from "vitest";
import type { BaseTile, RegisterTile, SharedTile, TileAccess } from "../src/data/messages/tile";
import { registerFace, sharedFace } from "../src/panels/inspector/tile/faces";
import { partAround } from "../src/panels/inspector/tile/part";
import {
  alone,
  bankOf,
  byteOf,
  lanesText,
  ownerOf,
  registersOf,
} from "../src/panels/inspector/tile/places";

/** The product of m16n8k16: lanes n1 n2 m0 m1 m2, positions n0 m3. */
const acc: BaseTile = {
  rows: 16,
  columns: 8,
  lanes: 32,
  count: 4,
  lane: Array.from({ length: 128 }, (_, i) => (((i >> 3) & 7) << 2) | ((i >> 1) & 3)),
  position: Array.from({ length: 128 }, (_, i) => (i & 1) | ((i >> 6) << 1)),
  copies: [0],
};

const tile: RegisterTile = {
  space: "register",
  kind: "RT",
  number: 2,
  dtype: "float32",
  rows: 16,
  columns: 64,
  shown: [16, 64],
  layout: "acc",
  warps: 4,
  base: acc,
};

const shared: SharedTile = {
  space: "shared",
  kind: "ST",
  number: 0,
  dtype: "float16",
  rows: 8,
  columns: 64,
  shown: [8, 64],
  stages: 2,
  item: 2,
  piece: 8,
  keys: 8,
  key: [0, 4, 2, 6, 1, 5, 3, 7],
  lanes: 32,
};

describe("places in registers", () => {
  it("are those of the manual", () => {
    expect(ownerOf(tile, 3, 12)).toEqual({ lane: 14, lanes: [14], register: 1 });
    expect(ownerOf(tile, 11, 13)).toEqual({ lane: 14, lanes: [14], register: 25 });
    expect(registersOf(tile)).toBe(32);
    expect(registersOf(alone(acc))).toBe(4);
  });

  it("give every register of every lane once", () => {
    const seen = new Set<string>();
    for (let row = 0; row < 16; row++)
      for (let column = 0; column < 64; column++) {
        const { lane, register } = ownerOf(tile, row, column);
        seen.add(`${lane} ${register}`);
      }
    expect(seen.size).toBe(16 * 64);
  });

  it("name all lanes that hold an element", () => {
    const copied = { ...acc, copies: [0, 1, 2, 3] };
    expect(ownerOf({ ...tile, base: copied }, 0, 0).lanes).toEqual([0, 1, 2, 3]);
    expect(lanesText([3])).toBe("lane 3");
    expect(lanesText([2, 0, 1])).toBe("lanes 0 to 2");
    expect(lanesText([0, 16])).toBe("lanes 0, 16");
    expect(lanesText(Array.from({ length: 16 }, (_, i) => 2 * i))).toMatch(/ and 8 more$/);
  });

  it("are said with warp, lane and register", () => {
    const one = registerFace(tile, 4, false, "lane", null);
    expect(one.say(3, 12)).toBe("Row 3, column 12: each warp, lane 14, register 1");
    expect([one.rows, one.columns]).toEqual([16, 64]);
    const all = registerFace(tile, 4, true, "lane", null);
    expect(all.rows).toBe(64);
    expect(all.say(19, 12)).toBe("Row 19, column 12: warp 1, lane 14, register 1");
    expect(all.group(19, 12)).not.toBe(all.group(3, 12));
    expect(all.sayGroup(all.group(19, 12))).toBe(
      "lane 14 of warp 1: 32 elements, registers 0 to 31",
    );
    expect(registerFace(tile, 1, false, "register", null).number(11, 13)).toBe(25);
  });

  it("are marked where the node reads or writes them", () => {
    const face = registerFace(tile, 4, false, "lane", [25]);
    expect(face.marked(11, 13)).toBe(true);
    expect(face.marked(11, 12)).toBe(false);
    expect(registerFace(tile, 4, false, "lane", null).marked(11, 13)).toBe(false);
  });
});

describe("places in shared memory", () => {
  it("are swizzled by the key of the row", () => {
    expect(byteOf(shared, 0, 12)).toBe(24);
    expect(byteOf(shared, 1, 0)).toBe(128 + 4 * 16);
    expect(byteOf(shared, 1, 0, false)).toBe(128);
    expect(byteOf({ ...shared, keys: 1 }, 1, 0)).toBe(128);
    expect(bankOf(128 + 64)).toBe(16);
  });

  it("are each of one element", () => {
    const seen = new Set<number>();
    for (let row = 0; row < 8; row++)
      for (let column = 0; column < 64; column++) seen.add(byteOf(shared, row, column));
    expect(seen.size).toBe(8 * 64);
  });

  /** Eight lanes read 2 bytes of one column. */
  const column: TileAccess = {
    node: 1,
    tile: 0,
    stores: false,
    times: 1,
    width: 2,
    conflicts: 0,
    plain: 7,
    first: [...Array.from({ length: 8 }, (_, lane) => lane * 64), ...Array<number>(24).fill(-1)],
  };

  it("show banks, and lanes of an access", () => {
    const banks = sharedFace(shared, true, null);
    expect(banks.number(1, 0)).toBe(16);
    expect(banks.say(1, 0)).toBe("Row 1, column 0: byte 192, bank 16");
    expect(banks.sayGroup(16)).toBe("bank 16: 16 elements of the tile");
    const lanes = sharedFace(shared, true, column);
    expect(lanes.number(3, 0)).toBe(3);
    expect(lanes.number(3, 1)).toBe(-1);
    expect(lanes.sayGroup(3)).toBe("lane 3: 2 bytes at once");
  });

  it("show the rows of matrices by the lanes that name them", () => {
    // four matrices of 8 x 8 halves: the first two below each other, but a tile has 8 rows here
    const first = Array.from(
      { length: 32 },
      (_, lane) => (lane % 8) * 64 + Math.floor(lane / 8) * 8,
    );
    const access = { ...column, width: 16, plain: 28, first, matrices: 4 };
    const lanes = sharedFace(shared, true, access);
    expect(lanes.number(5, 0)).toBe(5);
    expect(lanes.number(5, 7)).toBe(5);
    expect(lanes.number(5, 8)).toBe(13);
    expect(lanes.number(2, 31)).toBe(26);
    expect(lanes.say(2, 31)).toMatch(/, lane 26$/);
    expect(lanes.sayGroup(26)).toBe(
      "lane 26 names a row of 16 bytes of a matrix, for the whole warp",
    );
    expect(sharedFace(shared, false, access).marked(2, 31)).toBe(true);
  });

  it("are in conflict where a bank serves two words at once", () => {
    expect(sharedFace(shared, true, column).marked(3, 0)).toBe(false);
    const plain = sharedFace(shared, false, column);
    expect(plain.marked(3, 0)).toBe(true);
    expect(plain.marked(3, 1)).toBe(false);
    expect(plain.say(3, 0)).toBe("Row 3, column 0: byte 384, bank 0, lane 3, in conflict");
    // all of them from one bank, or each from another
    const banks = (swizzled: boolean): number[] => {
      const face = sharedFace(shared, swizzled, column, "bank");
      return [0, 1, 2, 3, 4, 5, 6, 7].map((row) => face.number(row, 0));
    };
    expect(new Set(banks(false))).toEqual(new Set([0]));
    expect(new Set(banks(true)).size).toBe(8);
    expect(sharedFace(shared, false, column, "bank").number(3, 1)).toBe(-1);
    // 16 bytes by each lane: eight lanes have a turn of their own
    const wide = { ...column, width: 16, first: column.first.map((_, lane) => (lane % 8) * 64) };
    expect(sharedFace(shared, true, wide).marked(0, 0)).toBe(false);
    expect(sharedFace(shared, false, wide).marked(0, 0)).toBe(true);
  });
});

describe("a picture", () => {
  it("is bounded whatever a file says", () => {
    const large: [number, number] = [1e9, 1e9];
    const face = registerFace({ ...tile, rows: 1e9, shown: large }, 1e9, false, "lane", null);
    expect([face.rows, face.columns]).toEqual([256, 256]);
    const memory = sharedFace({ ...shared, shown: large }, true, null);
    expect([memory.rows, memory.columns]).toEqual([256, 256]);
  });
});

describe("the part of a picture", () => {
  it("stays until the cursor leaves it, and ends with the tile", () => {
    const face = { rows: 40, columns: 24 };
    expect(partAround(face, [0, 0])).toEqual({ row: 0, column: 0, rows: 16, columns: 16 });
    expect(partAround(face, [15, 15])).toEqual({ row: 0, column: 0, rows: 16, columns: 16 });
    expect(partAround(face, [39, 23])).toEqual({ row: 24, column: 8, rows: 16, columns: 16 });
    expect(partAround({ rows: 4, columns: 1 }, [3, 0])).toEqual({
      row: 0,
      column: 0,
      rows: 4,
      columns: 1,
    });
  });
});
