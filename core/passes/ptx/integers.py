"""Integers: 8 bits are computed with in 16, shifts take an unsigned amount of 32 bits, and what
divides is not 0.

An 8-bit integer lives in a register of 16 bits, sign- or zero-extended, so that operations whose
result stays in 8 bits need no widening. Keeps wraparound, and x / 0 = 0 and x % 0 = x.
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.facts.meaning import UNLESS_ZERO

_ALL_OUT: Final = 64
"""An amount that shifts every bit out of any register: PTX clamps what is larger."""


def converted(x: UOp, dtype: DType) -> UOp:
    """CAST, of constants at once."""
    return UOp.const(dtype, x.arg) if x.op is Ops.CONST else x.cast(dtype)


@rule(UPat((Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.IDIV, Ops.SHL),
           (dtypes.int8, dtypes.uint8), name="x"))  # fmt: skip
def byte_in_16_bits(x: UOp) -> UOp:
    """f(a, b) -> int8(f(int16(a), int16(b)))  where f leaves 8 bits"""
    wide = dtypes.uint16 if dtypes.is_unsigned(x.dtype) else dtypes.int16
    src = [converted(s, wide) for s in x.src]
    return src[0].alu(x.op, *src[1:]).cast(x.dtype)


@rule(UPat((Ops.SHL, Ops.SHR), dtypes.ints, src=(UPat.var("x"), UPat.var("n")), name="shift"))
def shift_by_32_bits(shift: UOp, x: UOp, n: UOp) -> UOp | None:
    """x << n -> x << uint32(n),  64 for an n that uint32 does not hold"""
    if n.dtype is dtypes.uint32:
        return None
    if n.op is Ops.CONST:
        amount = UOp.const(dtypes.uint32, n.arg if 0 <= n.arg < _ALL_OUT else _ALL_OUT)
    elif n.dtype.bits < 64 or (n.vmin >= 0 and n.vmax <= dtypes.max(dtypes.uint32)):
        amount = n.cast(dtypes.uint32)  # a negative one becomes large
    else:
        count = n if dtypes.is_unsigned(n.dtype) else n.cast(dtypes.uint64)
        amount = (count < _ALL_OUT).where(count, _ALL_OUT).cast(dtypes.uint32)
    return shift.replace(src=(x, amount))


@rule(UPat((Ops.IDIV, Ops.MOD), dtypes.ints, src=(UPat.var("x"), UPat.var("y")), name="u"))
def division_by_zero(u: UOp, x: UOp, y: UOp) -> UOp | None:
    """x / y -> y == 0 ? 0 : x / y;  x % y -> y == 0 ? x : x % y"""
    if u.arg is not None or y.vmin > 0 or y.vmax < 0:
        return None
    instead = x.const_like(0) if u.op is Ops.IDIV else x
    return y.eq(0).where(instead, u.replace(arg=UNLESS_ZERO))


integers = PatternMatcher(
    [byte_in_16_bits, shift_by_32_bits, division_by_zero],
    name="integers",
)
