"""The rules that replace ops and dtypes that a target does not have. `ctx` is the Target.

Each function has its own module; here is only what decides. Never replaces what the target has.
"""

from __future__ import annotations

from core.dtype import DType, dtypes
from core.passes.decompose import single
from core.passes.decompose.exponential import exp2
from core.passes.decompose.logarithm import log2
from core.passes.decompose.narrow import fewer_bits, narrow, round_to_odd, widen
from core.passes.decompose.power import float_power, int_power
from core.passes.decompose.random import threefry
from core.passes.decompose.rounding import trunc
from core.passes.decompose.shuffle import WORDS, in_words
from core.passes.decompose.sine import cos, sin
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.patterns.rule import Assumes

_narrow = (*dtypes.fp8s, dtypes.float16, dtypes.bfloat16)
_wide = (dtypes.float32, dtypes.float64)
_in_float32 = frozenset(
    {Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.SQRT, Ops.RECIPROCAL, Ops.FDIV, Ops.POW, Ops.TRUNC}
)
"""Ops that no target has for narrow floats."""


@rule(UPat(GroupOp.ALU - {Ops.WHERE}, name="x"))
def narrow_arithmetic(ctx: Target, x: UOp) -> UOp | None:
    """f(a, b) -> narrow(f(float32(a), float32(b)))  where the target has no narrow f"""
    dtype = x.src[-1].dtype.scalar()
    if dtype not in _narrow or (ctx.supports(dtype) and x.op not in _in_float32):
        return None
    value = x.src[0].cast(dtypes.float32).alu(x.op, *(s.cast(dtypes.float32) for s in x.src[1:]))
    return value if x.op in GroupOp.Comparison else value.cast(dtype)


@rule(UPat(Ops.CAST, src=(UPat.var("x"),), name="cast"))
def cast_by_way_of_float32(ctx: Target, cast: UOp, x: UOp) -> UOp | None:
    """cast(x: narrow, other) -> cast(cast(x, float32), other), and the other way round, rounded
    once: inexact float32 values are rounded to odd in between"""
    have, want = x.dtype.scalar(), cast.dtype.scalar()
    if have in _narrow and not ctx.supports(have) and want is not dtypes.float32:
        return x.cast(dtypes.float32).cast(want)
    if want not in _narrow or ctx.supports(want) or have is dtypes.float32:
        return None
    if have is dtypes.float64 or (have.bits > 16 and want is dtypes.bfloat16):
        if not ctx.supports(dtypes.float64):
            return round_to_odd(x).cast(want)
        whole = fewer_bits(x) if dtypes.is_int(have) and have.bits == 64 else x
        return round_to_odd(whole.cast(dtypes.float64)).cast(want)
    return x.cast(dtypes.float32).cast(want)  # integers beyond float32 overflow the others


@rule(UPat(Ops.CAST, dtypes.float32, src=(UPat.var("x", _narrow),)))
def widen_by_bits(ctx: Target, x: UOp) -> UOp | None:
    """float32(x: bfloat16) -> bits of x << 16, as float32"""
    return None if ctx.converts(x.dtype) else widen(x)


@rule(UPat(Ops.CAST, _narrow, src=(UPat.var("x", dtypes.float32),), name="cast"))
def narrow_by_bits(ctx: Target, cast: UOp, x: UOp) -> UOp | None:
    """bfloat16(x: float32) -> bits of x, rounded to the nearest even, >> 16"""
    return None if ctx.converts(cast.dtype) else narrow(x, cast.dtype.scalar())


def _in_single(ctx: Target, x: UOp) -> bool:
    """Whether a function of float32 has to do without float64."""
    return x.dtype.scalar() is dtypes.float32 and not ctx.supports(dtypes.float64)


def _missing(ctx: Target, op: Ops, dtype: DType) -> bool:
    """Whether a function has to be made: targets have them in float32 only."""
    return op not in ctx.ops or dtype.scalar() is not dtypes.float32


@rule(UPat(Ops.EXP2, _wide, src=(UPat.var("x"),)), assumes=(Assumes.ACCURACY,))
def exp2_by_series(ctx: Target, x: UOp) -> UOp | None:
    """exp2(x) -> series(x - n) * 2 ** n, n = round(x)"""
    return exp2(x, ctx.reassociates) if _missing(ctx, Ops.EXP2, x.dtype) else None


@rule(UPat(Ops.LOG2, _wide, src=(UPat.var("x"),)), assumes=(Assumes.ACCURACY,))
def log2_by_series(ctx: Target, x: UOp) -> UOp | None:
    """log2(m * 2 ** e) -> e + series(m - 1)"""
    return log2(x) if _missing(ctx, Ops.LOG2, x.dtype) else None


@rule(UPat(Ops.SIN, _wide, src=(UPat.var("x"),)), assumes=(Assumes.ACCURACY,))
def sin_by_series(ctx: Target, x: UOp) -> UOp:
    """sin(q * pi/2 + r) -> +- series(r); hardware sines are too rough for large arguments"""
    return single.sin(x) if _in_single(ctx, x) else sin(x)


@rule(UPat(Ops.COS, _wide, src=(UPat.var("x"),)), assumes=(Assumes.ACCURACY,))
def cos_by_series(ctx: Target, x: UOp) -> UOp:
    """cos(q * pi/2 + r) -> +- series(r); with the reduction of sin"""
    return single.cos(x) if _in_single(ctx, x) else cos(x)


@rule(UPat(Ops.POW, _wide, src=(UPat.var("x"), UPat.var("y"))), assumes=(Assumes.ACCURACY,))
def pow_by_logarithm(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x ** y -> +- exp2(log2(|x|) * y)"""
    if Ops.POW in ctx.ops:
        return None
    return single.float_power(x, y) if _in_single(ctx, x) else float_power(x, y)


@rule(UPat(Ops.POW, dtypes.ints, src=(UPat.var("x"), UPat.var("y"))))
def pow_by_squares(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x ** y -> product of x ** (2 ** k) over the bits k of y"""
    return int_power(x, y) if Ops.POW not in ctx.ops else None


@rule(UPat(Ops.THREEFRY, src=(UPat.var("counter"), UPat.var("key"))))
def threefry_by_rounds(ctx: Target, counter: UOp, key: UOp) -> UOp | None:
    """threefry(counter, key) -> 20 rounds of add, rotate, xor"""
    return threefry(counter, key) if Ops.THREEFRY not in ctx.ops else None


@rule(UPat(Ops.MAX, src=(UPat.var("x"), UPat.var("y"))))
def max_by_choice(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """max(x, y) -> x < y or y is NaN ? y : x"""
    if Ops.MAX in ctx.ops and not dtypes.is_bool(x.dtype):
        return None
    if dtypes.is_bool(x.dtype):
        return x | y
    return ((x < y) | y.ne(y)).where(y, x)


@rule(UPat(Ops.CMPEQ, src=(UPat.var("x"), UPat.var("y"))))
def equal_by_unequal(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x == y -> !(x != y)"""
    return (
        x.ne(y).alu(Ops.XOR, UOp.const(dtypes.bool.vec(x.dtype.count), True))
        if (Ops.CMPEQ not in ctx.ops)
        else None
    )


@rule(UPat(Ops.FDIV, src=(UPat.var("x"), UPat.var("y"))))
def divide_by_reciprocal(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x / y -> x * (1 / y)"""
    return x * y.recip() if Ops.FDIV not in ctx.ops else None


@rule(UPat(Ops.RECIPROCAL, src=(UPat.var("x"),)))
def reciprocal_by_division(ctx: Target, x: UOp) -> UOp | None:
    """1 / x -> 1.0 / x as a division"""
    return x.const_like(1.0) / x if Ops.RECIPROCAL not in ctx.ops else None


@rule(UPat(Ops.TRUNC, _wide, src=(UPat.var("x"),)))
def trunc_by_conversion(ctx: Target, x: UOp) -> UOp | None:
    """trunc(x) -> float(int(|x|)) with the sign of x, where |x| has a fraction"""
    return trunc(x) if Ops.TRUNC not in ctx.ops else None


@rule(UPat(Ops.SUB, src=(UPat.var("x"), UPat.var("y"))))
def subtract_by_addition(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x - y -> x + -1 * y"""
    return x + y * -1 if Ops.SUB not in ctx.ops else None


@rule(UPat(Ops.NEG, src=(UPat.var("x"),)))
def negate_by_product(ctx: Target, x: UOp) -> UOp | None:
    """-x -> x * -1"""
    return x * -1 if Ops.NEG not in ctx.ops else None


@rule(UPat(Ops.SHUFFLE, src=(UPat.var("x"),), name="u"))
def shuffle_words(u: UOp, x: UOp) -> UOp | None:
    """shuffle(x) -> bits of shuffle(bits of x as uint32), or of two of them"""
    return None if x.dtype.scalar() in WORDS else in_words(x, u.arg)


replacing = PatternMatcher(
    [
        narrow_arithmetic,
        cast_by_way_of_float32,
        widen_by_bits,
        narrow_by_bits,
        exp2_by_series,
        log2_by_series,
        sin_by_series,
        cos_by_series,
        pow_by_logarithm,
        pow_by_squares,
        threefry_by_rounds,
        max_by_choice,
        equal_by_unequal,
        divide_by_reciprocal,
        reciprocal_by_division,
        trunc_by_conversion,
        subtract_by_addition,
        negate_by_product,
        shuffle_words,
    ],
    name="decompose: replace",
)
