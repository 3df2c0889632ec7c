"""Narrowing: integers of 64 bits are computed with in 32 where bounds prove that these are enough.

Runs before `pairs.py`, because nothing is known of the bounds of a pair. Keeps the graph's value.
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.passes.wgsl.floats import float_of_word
from core.passes.wgsl.integers import remainder_with_signs
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule

_word: Final = dtypes.uint32
_int: Final = dtypes.int32
_wide: Final = (dtypes.int64, dtypes.uint64)
_LOW: Final = 0xFFFFFFFF
_BY_LOW_BITS: Final = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.AND, Ops.OR, Ops.XOR, Ops.MULACC)
"""Whose low bits depend on the low bits of their operands alone."""


def _narrow_for(u: UOp) -> DType | None:
    """The dtype of 32 bits that holds every value of an integer; None where none does."""
    for dtype in (_int, _word):
        if dtypes.min(dtype) <= u.vmin and u.vmax <= dtypes.max(dtype):
            return dtype
    return None


def _fit(dtype: DType, *values: UOp) -> bool:
    return all(dtypes.min(dtype) <= v.vmin and v.vmax <= dtypes.max(dtype) for v in values)


@rule(UPat(_BY_LOW_BITS, _wide, name="x"))
def narrowed_by_low_bits(x: UOp) -> UOp | None:
    """a + b -> int64(int32(a) + int32(b))  where 32 bits hold the sum"""
    narrow = _narrow_for(x)
    if narrow is None:
        return None
    src = [converted_low(s, narrow) for s in x.src]
    return src[0].alu(x.op, *src[1:]).cast(x.dtype)


def converted_low(x: UOp, dtype: DType) -> UOp:
    """The low bits of an integer as `dtype`."""
    if x.op is Ops.CONST:
        value = x.arg & _LOW
        signed = not dtypes.is_unsigned(dtype) and value >> 31
        return UOp.const(dtype, value - (1 << 32) if signed else value)
    if x.op is Ops.CAST and x.src[0].dtype is dtype:
        return x.src[0]
    return x.cast(dtype)


@rule(UPat((Ops.IDIV, Ops.MOD, Ops.MAX), _wide, src=(UPat.var("a"), UPat.var("b")), name="x"))
def narrowed_division(x: UOp, a: UOp, b: UOp) -> UOp | None:
    """a / b -> int64(int32(a) / int32(b))  where 32 bits hold both, and the result"""
    for dtype in (_int, _word):
        if _fit(dtype, a, b, x):
            made = UOp(x.op, dtype, (converted_low(a, dtype), converted_low(b, dtype)), x.arg)
            return made.cast(x.dtype)
    return None


@rule(UPat(Ops.SHR, _wide, src=(UPat.var("a"), UPat.var("n", _word)), name="x"))
def narrowed_shift(x: UOp, a: UOp, n: UOp) -> UOp | None:
    """a >> n -> int64(int32(a) >> n)  where 32 bits hold a, for an n below 32"""
    narrow = _narrow_for(a)
    if narrow is None or n.vmax > 31:
        return None
    return UOp(Ops.SHR, narrow, (converted_low(a, narrow), n)).cast(x.dtype)


@rule(UPat(Ops.SHL, _wide, src=(UPat.var("a"), UPat.var("n", _word)), name="x"))
def narrowed_shift_left(x: UOp, a: UOp, n: UOp) -> UOp | None:
    """a << n -> int64(int32(a) << n)  where 32 bits hold that, for an n below 32"""
    narrow = _narrow_for(x)
    if narrow is None or n.vmax > 31:
        return None
    return UOp(Ops.SHL, narrow, (converted_low(a, narrow), n)).cast(x.dtype)


@rule(UPat(GroupOp.Comparison, src=(UPat.var("a", _wide), UPat.var("b")), name="x"))
def narrowed_comparison(x: UOp, a: UOp, b: UOp) -> UOp | None:
    """a < b -> int32(a) < int32(b)  where 32 bits hold both"""
    for dtype in (_int, _word):
        if _fit(dtype, a, b):
            return converted_low(a, dtype).alu(x.op, converted_low(b, dtype))
    return None


@rule(UPat(Ops.WHERE, _wide, src=(UPat.var("c"), UPat.var("a"), UPat.var("b")), name="x"))
def narrowed_choice(x: UOp, c: UOp, a: UOp, b: UOp) -> UOp | None:
    """c ? a : b -> int64(c ? int32(a) : int32(b))  where 32 bits hold both"""
    narrow = _narrow_for(x)
    if narrow is None or not _fit(narrow, a, b):
        return None
    return c.where(converted_low(a, narrow), converted_low(b, narrow)).cast(x.dtype)


@rule(UPat(Ops.CAST, (_int, _word), src=(UPat(Ops.CAST, _wide, src=(UPat.var("x"),)),),
           name="cast"))  # fmt: skip
def there_and_back(cast: UOp, x: UOp) -> UOp | None:
    """int32(int64(x: int32)) -> x"""
    return x.cast(cast.dtype) if dtypes.is_int(x.dtype) and x.dtype.bits <= 32 else None


@rule(UPat(Ops.CAST, dtypes.float32, src=(UPat.var("x", _wide),), name="cast"))
def narrowed_conversion(cast: UOp, x: UOp) -> UOp | None:
    """float32(x: int64) -> float32(int32(x))  where 32 bits hold x"""
    narrow = _narrow_for(x)
    if narrow is None:
        return None
    word = converted_low(x, narrow)
    return float_of_word(word) if narrow is _word else word.cast(cast.dtype)


@rule(UPat(Ops.INDEX, src=(UPat.var("p"), UPat.var("i", _wide)), allow_any_len=True, name="place"))
def narrowed_index(place: UOp, p: UOp, i: UOp) -> UOp:
    """p[i: int64] -> p[int32(i)];  no binding has elements beyond"""
    return place.rebuild((p, converted_low(i, _int), *place.src[2:]))


narrowing = PatternMatcher(
    [
        narrowed_by_low_bits,
        narrowed_division,
        remainder_with_signs,
        narrowed_shift,
        narrowed_shift_left,
        narrowed_comparison,
        narrowed_choice,
        narrowed_conversion,
        there_and_back,
        narrowed_index,
    ],
    name="wgsl: narrow",
)


def narrowed(sink: UOp, target: Target) -> UOp:
    """The kernel with integers of 32 bits where bounds prove that these are enough."""
    return graph_rewrite(sink, narrowing, target, name="wgsl: narrow")
