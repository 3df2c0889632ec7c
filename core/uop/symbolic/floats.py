"""Identities of floats that keep NaN, infinities and the sign of zero.

What is missing here is missing on purpose: x + 0.0 is not x for x = -0.0, x * 0.0 is not 0.0 for
NaN, infinities and negative x, x - x is not 0.0 for NaN and infinities, x / x is not 1.0.
"""

from __future__ import annotations

import math

from core.dtype import dtypes, round_float
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp

x_float = UPat.var("x", dtypes.floats)


@rule(UPat.any(x_float + -0.0, x_float - UPat.const(None, 0.0)))
def float_add_zero(x: UOp) -> UOp:
    """x + -0.0 -> x;  x - 0.0 -> x"""
    return x


@rule(UPat.any(x_float * 1, x_float / 1))
def float_mul_one(x: UOp) -> UOp:
    """x * 1.0 -> x;  x / 1.0 -> x"""
    return x


@rule(UPat(Ops.POW, dtypes.floats, (UPat.const(None, 1.0), UPat.var("x"))))
def power_of_one(x: UOp) -> UOp:
    """1.0 ** x -> 1.0, of NaN, too"""
    return x.const_like(1.0)


@rule(x_float * -1.0 * -1.0)
def float_minus_minus(x: UOp) -> UOp:
    """x * -1.0 * -1.0 -> x"""
    return x


@rule(x_float / UPat.cvar("c", vec=False))
def float_divide_by_power(x: UOp, c: UOp) -> UOp | None:
    """x / c -> x * (1/c)  when c is a power of two and 1/c a normal number"""
    if not math.isfinite(c.arg) or abs(math.frexp(c.arg)[0]) != 0.5:
        return None
    inverse = 1.0 / c.arg
    smallest = {"float64": -1022, "float16": -14, "fp8e4m3": -6, "fp8e5m2": -14}
    normal = abs(inverse) >= math.ldexp(1.0, smallest.get(c.dtype.name, -126))
    exact = round_float(inverse, c.dtype.scalar()) == inverse
    return x * inverse if normal and exact else None


@rule(UPat(Ops.FDIV, dtypes.floats, (UPat.const(None, 1.0), UPat.var("x"))))
def float_reciprocal(x: UOp) -> UOp:
    """1.0 / x -> reciprocal(x)"""
    return x.recip()


@rule(
    UPat(
        Ops.TRUNC,
        src=(UPat.any(UPat(Ops.TRUNC), UPat(Ops.CAST, src=(UPat(None, dtypes.ints),))),),
        name="u",
    )
)
def trunc_of_integer(u: UOp) -> UOp:
    """trunc(x) -> x  when x is trunc(y) or cast from an integer"""
    return u.src[0]


floats = PatternMatcher(
    [
        float_add_zero,
        float_mul_one,
        power_of_one,
        float_minus_minus,
        float_divide_by_power,
        float_reciprocal,
        trunc_of_integer,
    ],
    name="floats",
)
