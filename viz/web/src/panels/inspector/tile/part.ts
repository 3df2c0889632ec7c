/** Which part of a picture has numbers, and where the keys lead in it. Pure. */

/** Rows and columns of the part. */
export const SPAN = 16;

export type Cell = readonly [row: number, column: number];

/** How large a picture is. */
export interface Size {
  rows: number;
  columns: number;
}

/** A part of a tile: its first row and column, and how many. */
export interface Part extends Size {
  row: number;
  column: number;
}

export const inside = (face: Size, [row, column]: Cell): Cell => [
  Math.max(0, Math.min(face.rows - 1, row)),
  Math.max(0, Math.min(face.columns - 1, column)),
];

/** The part that has the cursor: it changes only when that leaves it. */
export function partAround(face: Size, [row, column]: Cell): Part {
  const [rows, columns] = [Math.min(SPAN, face.rows), Math.min(SPAN, face.columns)];
  const from = (n: number, count: number, whole: number): number =>
    Math.min(n - (n % SPAN), whole - count);
  return {
    row: from(row, rows, face.rows),
    column: from(column, columns, face.columns),
    rows,
    columns,
  };
}

/** Where a key leads; null: nowhere. */
export function step(key: string, [row, column]: Cell, face: Size): Cell | null {
  switch (key) {
    case "ArrowLeft":
      return [row, column - 1];
    case "ArrowRight":
      return [row, column + 1];
    case "ArrowUp":
      return [row - 1, column];
    case "ArrowDown":
      return [row + 1, column];
    case "Home":
      return [row, 0];
    case "End":
      return [row, face.columns - 1];
    case "PageUp":
      return [row - SPAN, column];
    case "PageDown":
      return [row + SPAN, column];
    default:
      return null;
  }
}
