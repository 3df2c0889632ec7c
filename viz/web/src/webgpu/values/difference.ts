/** How far two results in memory are apart, as `core/trial/difference.py` has it. Pure. */
import { reader } from "./dtypes";
import type { ShaderArgument } from "../../data/messages/trials/shaders";

export interface Difference {
  /** The largest absolute difference; Infinity where only one is a number. */
  error: number;
  /** The largest that counts as equal. */
  allowed: number;
  /** The element that is furthest off, and both values there. */
  at: number;
  got: number;
  wanted: number;
  /** How many elements are not the same number. */
  differing: number;
}

/** The absolute difference; 0 for equal infinities and for two NaNs. */
export function apart(a: number, b: number): number {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return 0;
  const difference = Math.abs(a - b);
  return Number.isNaN(difference) ? Infinity : difference;
}

/** A result against another one, element by element. */
export function difference(got: DataView, wanted: DataView, of: ShaderArgument): Difference {
  const read = reader(of.dtype);
  const each = function* (): Generator<[number, number, number]> {
    for (let i = 0; i < of.size; i++) yield [i, read(got, i), read(wanted, i)];
  };
  return largest(each(), of.allowed);
}

/** A result against some of its elements, which are known. */
export function differenceAt(
  got: DataView,
  at: readonly number[],
  values: readonly number[],
  of: ShaderArgument,
): Difference {
  const read = reader(of.dtype);
  const each = function* (): Generator<[number, number, number]> {
    for (const [k, i] of at.entries()) yield [i, read(got, i), values[k]!];
  };
  return largest(each(), of.allowed);
}

function largest(each: Iterable<[number, number, number]>, allowed: number): Difference {
  const found = { error: 0, at: 0, got: 0, wanted: 0, differing: 0 };
  let magnitude = 1;
  let first = true;
  for (const [at, got, wanted] of each) {
    const error = apart(got, wanted);
    if (error > 0) found.differing++;
    if (Number.isFinite(wanted)) magnitude = Math.max(magnitude, Math.abs(wanted));
    if (first || error > found.error) Object.assign(found, { error, at, got, wanted });
    first = false;
  }
  return { ...found, allowed: allowed * magnitude };
}
