/**
 * Inputs of a kernel that are the same numbers everywhere: element i of argument n is a hash of both,
 * so that nothing has to be stored or sent. `core/runtime/reference/generated.py` makes the same
 * bytes; one table tests both.
 *
 * The hash is "lowbias32" (Chris Wellons, "Prospecting for Hash Functions", 2018): a bijection of
 * 32 bits whose outputs look random.
 */
import { FLOATS, INTEGERS, bytesOf } from "./dtypes";
import type { ShaderArgument } from "../../data/messages/trials/shaders";

const GOLDEN = 0x9e3779b9;

export function mix(x: number): number {
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  x ^= x >>> 16;
  return x >>> 0;
}

/** The memory of an argument, whole words. */
export function generated(argument: ShaderArgument): ArrayBuffer {
  const { number, dtype, size, span } = argument;
  const memory = new ArrayBuffer(4 * Math.ceil((size * bytesOf(dtype)) / 4));
  const key = mix(Math.imul(GOLDEN, number + 1) >>> 0);
  const drawn = (i: number): number => mix((i ^ key) >>> 0);
  const view = new DataView(memory);
  const float = FLOATS[dtype];
  if (float) {
    // float32 and wider: near the standard normal, 18 bits; narrower ones: exact in their precision
    const value = float.digits >= 24 ? normal : uniformOf(float.digits);
    for (let i = 0; i < size; i++) float.write(view, i, value(drawn(i)));
    return memory;
  }
  const integer = INTEGERS[dtype];
  if (!integer) throw new Error(`no generated inputs of ${dtype}`);
  const [low, high] = span ?? (dtype === "bool" ? [0, 1] : [0, 9]);
  const count = Math.min(high - low + 1, 0xffffffff);
  for (let i = 0; i < size; i++) integer.write(view, i, low + (drawn(i) % count));
  return memory;
}

/** The sum of four parts of 16 bits, centred and scaled: deviation 1.15, exact in float32. */
function normal(x: number): number {
  const y = mix((x + GOLDEN) >>> 0);
  return ((x & 0xffff) + (x >>> 16) + (y & 0xffff) + (y >>> 16) - 131070) / 32768;
}

/** From -2 to 2, in steps that a significand of `digits` bits holds. */
function uniformOf(digits: number): (x: number) => number {
  const most = 2 ** digits;
  return (x) => ((x % (2 * most + 1)) - most) / (most / 2);
}
