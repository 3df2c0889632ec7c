/** Two results of a kernel, element by element: how many agree, which is furthest off, and a picture of the
 * error, as `viz/workbench/outputs.py` makes them. Pure. */
import type { ShaderArgument } from "../../data/messages/trials/shaders";
import type { BenchOutputs, BenchPicture, Numeric } from "../../data/messages/trials/workbench";
import { apart } from "./difference";
import { bytesOf, FLOATS, reader } from "./dtypes";

/** Cells of a picture along either side at most, and how many it says more of. */
const SIDE = 256;
const MOST_CELLS = 8192;

/** What JSON has no number for is its name. */
const numeric = (value: number): Numeric =>
  Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";

/** The coordinates of an element. */
export function coordinates(shape: readonly number[], at: number): number[] {
  const found: number[] = [];
  let left = at;
  for (const size of [...shape].reverse()) {
    found.unshift(left % size);
    left = Math.floor(left / size);
  }
  return found.length ? found : [at];
}

/** How an output of the edited program differs from the original's. */
export function outputsOf(a: DataView, b: DataView, of: ShaderArgument): BenchOutputs {
  const read = reader(of.dtype);
  const bytes = bytesOf(of.dtype);
  let [identical, error, at, ulps] = [0, 0, 0, 0];
  let finite = true;
  for (let i = 0; i < of.size; i++) {
    if (sameBytes(a, b, i * bytes, bytes)) {
      identical++;
      continue;
    }
    const off = apart(read(a, i), read(b, i));
    if (off > error) [error, at] = [off, i];
    if (!Number.isFinite(off)) finite = false;
    else if (off > 0) ulps = Math.max(ulps, Math.abs(ordered(a, i, bytes) - ordered(b, i, bytes)));
  }
  return {
    output: of.number,
    compared: of.size,
    identical,
    error: numeric(error),
    ulps: FLOATS[of.dtype] && finite ? ulps : null,
    at: coordinates(of.shape, at),
    original: numeric(read(a, at)),
    edited: numeric(read(b, at)),
  };
}

function sameBytes(a: DataView, b: DataView, from: number, bytes: number): boolean {
  for (let i = from; i < from + bytes; i++) if (a.getUint8(i) !== b.getUint8(i)) return false;
  return true;
}

/** A float's bits as an integer in the order of the floats. */
function ordered(view: DataView, i: number, bytes: number): number {
  const bits =
    bytes === 4
      ? view.getUint32(4 * i, true)
      : bytes === 2
        ? view.getUint16(2 * i, true)
        : view.getUint8(i);
  const sign = 2 ** (8 * bytes - 1);
  return bits >= sign ? sign - bits : bits;
}

/** The error over an output as a table of cells, each the largest in it. */
export function pictureOf(a: DataView, b: DataView, of: ShaderArgument): BenchPicture {
  const read = reader(of.dtype);
  const [rows, columns] = of.table;
  const [down, across] = [Math.ceil(rows / SIDE), Math.ceil(columns / SIDE)];
  const [height, width] = [Math.ceil(rows / down), Math.ceil(columns / across)];
  const largest = new Float64Array(height * width);
  const where = new Uint32Array(height * width);
  for (let i = 0; i < of.size; i++) {
    const off = apart(read(a, i), read(b, i));
    if (!(off > 0)) continue;
    const cell =
      Math.floor(Math.floor(i / columns) / down) * width + Math.floor((i % columns) / across);
    if (off > largest[cell]!) [largest[cell], where[cell]] = [off, i];
  }
  const all = [...largest.keys()].filter((cell) => largest[cell]! > 0);
  const cell = all.sort((x, y) => largest[y]! - largest[x]!).slice(0, MOST_CELLS);
  const at = cell.map((one) => where[one]!);
  return {
    ...{ output: of.number, rows, columns, height, width, down, across, cell, at },
    error: cell.map((one) => numeric(largest[one]!)),
    original: at.map((i) => numeric(read(a, i))),
    edited: at.map((i) => numeric(read(b, i))),
    more: all.length - cell.length,
  };
}
