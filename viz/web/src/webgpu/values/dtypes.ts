/** Elements in memory, little-endian, as numbers and back: one row per dtype. */
import { GpuProblem } from "./problem";

interface Float {
  /** Bits of the significand, with the one that is not stored. */
  digits: number;
  bytes: number;
  read: (view: DataView, i: number) => number;
  /** `value` is one that the dtype holds. */
  write: (view: DataView, i: number, value: number) => void;
}

interface Integer {
  bytes: number;
  read: (view: DataView, i: number) => number;
  write: (view: DataView, i: number, value: number) => void;
}

/** A float of `exponent` and `fraction` bits; `finite`: without infinities, and NaN only as all ones. */
function small(exponent: number, fraction: number, finite = false): Float {
  const bytes = (1 + exponent + fraction) / 8;
  const bias = 2 ** (exponent - 1) - 1;
  const sign = 2 ** (exponent + fraction);
  const most = 2 ** exponent - 1;
  const read = (bits: number): number => {
    const [e, f] = [Math.floor((bits % sign) / 2 ** fraction), bits % 2 ** fraction];
    const plus = bits >= sign ? -1 : 1;
    if (e === most && !finite) return f ? NaN : plus * Infinity;
    if (finite && e === most && f === 2 ** fraction - 1) return NaN;
    if (e === 0) return plus * f * 2 ** (1 - bias - fraction);
    return plus * (1 + f / 2 ** fraction) * 2 ** (e - bias);
  };
  const bits = (value: number): number => {
    const left = value < 0 || Object.is(value, -0) ? sign : 0;
    const size = Math.abs(value);
    if (size === 0) return left;
    const e = Math.max(Math.floor(Math.log2(size)), 1 - bias);
    const steps = size / 2 ** (e - fraction);
    return left + (steps < 2 ** fraction ? steps : (e + bias) * 2 ** fraction + (steps - 2 ** fraction));
  };
  return {
    digits: fraction + 1,
    bytes,
    read: (view, i) => read(bytes === 1 ? view.getUint8(i) : view.getUint16(2 * i, true)),
    write: (view, i, value) => {
      if (bytes === 1) view.setUint8(i, bits(value));
      else view.setUint16(2 * i, bits(value), true);
    },
  };
}

export const FLOATS: Readonly<Partial<Record<string, Float>>> = {
  float32: {
    digits: 24,
    bytes: 4,
    read: (view, i) => view.getFloat32(4 * i, true),
    write: (view, i, value) => view.setFloat32(4 * i, value, true),
  },
  float16: small(5, 10),
  bfloat16: small(8, 7),
  fp8e4m3: small(4, 3, true),
  fp8e5m2: small(5, 2),
};

export const INTEGERS: Readonly<Partial<Record<string, Integer>>> = {
  bool: {
    bytes: 1,
    read: (view, i) => view.getUint8(i),
    write: (view, i, value) => view.setUint8(i, value),
  },
  int8: {
    bytes: 1,
    read: (view, i) => view.getInt8(i),
    write: (view, i, value) => view.setInt8(i, value),
  },
  uint8: {
    bytes: 1,
    read: (view, i) => view.getUint8(i),
    write: (view, i, value) => view.setUint8(i, value),
  },
  int16: {
    bytes: 2,
    read: (view, i) => view.getInt16(2 * i, true),
    write: (view, i, value) => view.setInt16(2 * i, value, true),
  },
  uint16: {
    bytes: 2,
    read: (view, i) => view.getUint16(2 * i, true),
    write: (view, i, value) => view.setUint16(2 * i, value, true),
  },
  int32: {
    bytes: 4,
    read: (view, i) => view.getInt32(4 * i, true),
    write: (view, i, value) => view.setInt32(4 * i, value, true),
  },
  uint32: {
    bytes: 4,
    read: (view, i) => view.getUint32(4 * i, true),
    write: (view, i, value) => view.setUint32(4 * i, value, true),
  },
  int64: {
    bytes: 8,
    read: (view, i) => Number(view.getBigInt64(8 * i, true)),
    write: (view, i, value) => view.setBigInt64(8 * i, BigInt(value), true),
  },
  uint64: {
    bytes: 8,
    read: (view, i) => Number(view.getBigUint64(8 * i, true)),
    write: (view, i, value) => view.setBigUint64(8 * i, BigInt(value), true),
  },
};

/** Bytes of an element. */
export function bytesOf(dtype: string): number {
  const known = FLOATS[dtype] ?? INTEGERS[dtype];
  if (!known) throw missing(dtype);
  return known.bytes;
}

/** Reads an element as a number. */
export function reader(dtype: string): (view: DataView, i: number) => number {
  const known = FLOATS[dtype] ?? INTEGERS[dtype];
  if (!known) throw missing(dtype);
  return known.read;
}

const missing = (dtype: string): GpuProblem =>
  new GpuProblem(`WebGPU has no ${dtype}`, "WebGPU", "Use float32 in the program.");
