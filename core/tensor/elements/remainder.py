"""The exact remainder of two floats of 32 or 64 bits, from their significands and exponents.

With a = m 2 ** e and b = n 2 ** f, both m and n integers of one significand, a mod b is
(m 2 ** (e - f) mod n) 2 ** f, and the power is found modulo n by squaring. No step rounds. IEEE 754
calls it fmod: the result has the sign of a. Knows UOps only, no Tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.uop.ops import Ops
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class _Layout:
    """A binary float: the integer of its width, fraction bits, bias, and how many squarings raise
    2 ** 32 or less to 2 ** (largest difference of exponents)."""

    bits: DType
    fraction: int
    bias: int
    squarings: int


_layouts = {
    dtypes.float32: _Layout(dtypes.int32, 23, 127, 3),
    dtypes.float64: _Layout(dtypes.int64, 52, 1023, 6),
}


def remainder(a: UOp, b: UOp) -> UOp:
    """a - b trunc(a / b), exactly. NaN for infinite a, for b = 0 and for NaN; a for infinite b."""
    parts = _layouts[a.dtype]
    m, e = _split(a, parts)
    n, f = _split(b, parts)
    n = n.eq(0).where(n.const_like(1), n)
    steps = (e < f).where(e.const_like(0), e - f).cast(dtypes.int64)
    power = _modulo(n.const_like(1) << (steps >> parts.squarings), n)
    for k in reversed(range(parts.squarings)):
        power = _product(power, power, n, parts)
        twice = power + power
        twice = (twice < n).where(twice, twice - n)
        power = ((steps >> k) & 1).ne(0).where(twice, power)
    rest = _product(_modulo(m, n), power, n, parts)
    # both factors are powers of two that are normal numbers, and the result is a float: exact
    unit = (f.cast(parts.bits) << parts.fraction).bitcast(a.dtype)
    found = rest.cast(a.dtype) * math.ldexp(1.0, -parts.fraction) * unit
    found = (e < f).where(_size(a, parts), found)
    found = (a.bitcast(parts.bits) < 0).where(found.neg(), found)
    finite = a.alu(Ops.SUB, a).eq(0) & b.ne(0) & b.eq(b)
    return finite.where(_infinite(b).where(a, found), a.const_like(math.nan))


def python_remainder(a: UOp, b: UOp) -> UOp:
    """`remainder` with the sign of b."""
    rest = remainder(a, b)
    return _other_side(rest, b).where(rest + b, rest)


def floor_quotient(a: UOp, b: UOp) -> UOp:
    """floor(a / b) of the exact quotient; a / b for b = 0."""
    rest = remainder(a, b)
    quotient = (a - rest) / b
    quotient = _other_side(rest, b).where(quotient - 1, quotient)
    # the quotient is a whole number that division may have missed by a rounding
    down = quotient.trunc()
    down = (quotient < down).where(down - 1, down)
    nearest = (quotient - down > 0.5).where(down + 1, down)
    signed_zero = quotient.eq(0).where(a / b * 0, nearest)
    return b.eq(0).where(a / b, signed_zero)


def _other_side(rest: UOp, b: UOp) -> UOp:
    return rest.ne(0) & (rest < 0).ne(b < 0)


def _size(x: UOp, parts: _Layout) -> UOp:
    mask = (1 << (parts.bits.bits - 1)) - 1
    return (x.bitcast(parts.bits) & mask).bitcast(x.dtype)


def _infinite(x: UOp) -> UOp:
    return x.eq(math.inf) | x.eq(-math.inf)


def _split(x: UOp, parts: _Layout) -> tuple[UOp, UOp]:
    """(significand as int64, biased exponent of its last bit as int32), where subnormal numbers
    have the exponent 1 of the smallest normal ones."""
    bits = x.bitcast(parts.bits)
    exponent = ((bits >> parts.fraction) & (2 * parts.bias + 1)).cast(dtypes.int32)
    fraction = (bits & ((1 << parts.fraction) - 1)).cast(dtypes.int64)
    normal = exponent.ne(0)
    significand = normal.where(fraction + (1 << parts.fraction), fraction)
    return significand, normal.where(exponent, exponent.const_like(1))


def _modulo(x: UOp, n: UOp) -> UOp:
    return x.alu(Ops.MOD, n)


def _product(x: UOp, y: UOp, n: UOp, parts: _Layout) -> UOp:
    """x y mod n, of integers below n."""
    if parts.bits is dtypes.int32:
        return _modulo(x * y, n)  # 48 bits
    # the quotient as a float is off by a few units, and so is the difference of the two products,
    # each modulo 2 ** 64, by a few times n
    quotient = x.cast(dtypes.float64) * y.cast(dtypes.float64) / n.cast(dtypes.float64)
    rest = _modulo(x * y - quotient.cast(dtypes.int64) * n, n)
    return (rest < 0).where(rest + n, rest)
