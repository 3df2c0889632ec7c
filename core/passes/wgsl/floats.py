"""Floats: what asks for a NaN, or for the sign of a zero, looks at bits, because an implementation
of WGSL may assume that there is no NaN, and that signs of zeros do not count (section 15.7 of its
specification).
"""

from __future__ import annotations

import math
from typing import Final

from core.dtype import dtypes
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.facts.meaning import UNLESS_NAN

_INFINITY: Final = 0x7F800000
_MAGNITUDE: Final = 0x7FFFFFFF
_SIGN: Final = 0x80000000
_x = UPat.var("x", dtypes.float32)


def _magnitude(x: UOp) -> UOp:
    return x.bitcast(dtypes.uint32) & _MAGNITUDE


def is_nan(x: UOp) -> UOp:
    """Whether a float32 is NaN, by its bits."""
    return UOp.const(dtypes.uint32, _INFINITY) < _magnitude(x)


@rule(UPat(Ops.CMPNE, src=(_x, _x)))
def unequal_if_nan(x: UOp) -> UOp:
    """x != x -> (bits of x & 0x7fffffff) > 0x7f800000"""
    return is_nan(x)


@rule(UPat(Ops.CMPEQ, src=(_x, _x)))
def equal_unless_nan(x: UOp) -> UOp:
    """x == x -> (bits of x & 0x7fffffff) <= 0x7f800000"""
    return _magnitude(x) < _INFINITY + 1


@rule(UPat(Ops.MAX, src=(_x, UPat.var("y"))))
def max_of_floats(x: UOp, y: UOp) -> UOp:
    """max(x, y) -> y < x or x is NaN ? x : y"""
    return ((y < x) | is_nan(x)).where(x, y)


@rule(UPat(Ops.CAST, dtypes.bool, src=(_x,)))
def truth_of_float(x: UOp) -> UOp:
    """bool(x) -> (bits of x & 0x7fffffff) != 0"""
    return _magnitude(x).ne(0)


@rule(UPat(Ops.CAST, (dtypes.int32, dtypes.uint32), src=(_x,), name="cast"))
def integer_of_float(cast: UOp, x: UOp) -> UOp | None:
    """int32(x) -> x is NaN ? 0 : x < 2 ** 31 ? int32(x) : the largest;  smaller ones are clamped"""
    if cast.arg is not None:
        return None
    high = int(dtypes.max(cast.dtype))
    found = (x < float(high + 1)).where(cast.replace(arg=UNLESS_NAN), cast.const_like(high))
    return is_nan(x).where(cast.const_like(0), found)


@rule(UPat(Ops.ADD, src=(_x, UPat.cvar("c"))))
def sum_with_zero(x: UOp, c: UOp) -> UOp | None:
    """x + 0.0 -> (bits of x & 0x7fffffff) == 0 ? 0.0 : x, which a compiler may take for x alone"""
    if repr(c.arg) != "0.0":
        return None
    return _magnitude(x).eq(0).where(c, x)


@rule(UPat(Ops.SUB, src=(UPat.cvar("c"), _x)))
def difference_from_zero(c: UOp, x: UOp) -> UOp | None:
    """0.0 - x -> (bits of x & 0x7fffffff) == 0 ? 0.0 : -x"""
    if repr(c.arg) != "0.0":
        return None
    return _magnitude(x).eq(0).where(c, -x)


@rule(UPat(Ops.MUL, src=(_x, UPat.cvar("c"))))
def product_with_zero(x: UOp, c: UOp) -> UOp | None:
    """x * 0.0 -> (bits of x & 0x7fffffff) < 0x7f800000 ? 0.0 with x's sign : NaN, which a compiler
    may take for 0.0 alone"""
    if c.arg != 0:
        return None
    sign = x.bitcast(dtypes.uint32) & _SIGN
    if repr(c.arg) == "-0.0":
        sign = sign ^ _SIGN
    return (_magnitude(x) < _INFINITY).where(sign.bitcast(dtypes.float32), c.const_like(math.nan))


_SIGNED: Final = dtypes.int32


def float_of_word(x: UOp) -> UOp:
    """A uint32 as float32, rounded to the nearest: by signed conversions, because some
    implementations convert the two halves of a large number and round twice."""
    half = ((x >> 1) | (x & 1)).bitcast(_SIGNED).cast(dtypes.float32)
    small = x.bitcast(_SIGNED)
    return (small < 0).where(half * 2.0, small.cast(dtypes.float32))


@rule(UPat(Ops.CAST, dtypes.float32, src=(UPat.var("x", dtypes.uint32),)))
def float_of_unsigned(x: UOp) -> UOp:
    """float32(x: uint32) -> x < 2 ** 31 ? float32(int32(x)) : float32(int32(x >> 1 | x & 1)) * 2"""
    if x.vmax <= dtypes.max(_SIGNED):
        return x.bitcast(_SIGNED).cast(dtypes.float32)
    return float_of_word(x)


floats = PatternMatcher(
    [
        unequal_if_nan,
        equal_unless_nan,
        max_of_floats,
        sum_with_zero,
        difference_from_zero,
        product_with_zero,
        truth_of_float,
        integer_of_float,
        float_of_unsigned,
    ],
    name="wgsl: floats",
)
