"""Integers: those of 8 and 16 bits are computed with in 32, a shift by all bits or more is a
choice, and a remainder of negative numbers is computed by a division.

A narrow integer lives in a variable of 32 bits, sign- or zero-extended, so that operations whose
result stays in its bits need no widening. WGSL takes the amount of a shift modulo 32.

WGSL defines `%` for negative operands, but its compilers make OpSRem of it, whose result Vulkan
leaves open for these (gfx-rs/wgpu issue 8191): on NVIDIA's GPUs -1 % 768 is 255.
"""

from __future__ import annotations

from typing import Final

from core.dtype import dtypes
from core.passes.ptx.integers import converted, division_by_zero, shift_by_32_bits
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

_WORD: Final = 32
_narrow: Final = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)


@rule(UPat((Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.IDIV, Ops.SHL), _narrow, name="x"))
def narrow_in_32_bits(x: UOp) -> UOp:
    """f(a, b) -> int8(f(int32(a), int32(b)))  where f leaves the bits of its operands"""
    wide = dtypes.uint32 if dtypes.is_unsigned(x.dtype) else dtypes.int32
    kept = 1 if x.op is Ops.SHL else len(x.src)  # the amount of a shift stays what it is
    src = (*(converted(s, wide) for s in x.src[:kept]), *x.src[kept:])
    return UOp(x.op, wide, src, x.arg).cast(x.dtype)


@rule(UPat((Ops.SHL, Ops.SHR), dtypes.ints, src=(UPat.var("x"), UPat.var("n", dtypes.uint32)),
           name="shift"))  # fmt: skip
def shift_within_a_word(shift: UOp, x: UOp, n: UOp) -> UOp | None:
    """x << n -> n < 32 ? x << (n & 31) : 0;  x >> n -> x >> min(n, 31)  where x has a sign"""
    if n.vmax < _WORD or x.dtype.bits > _WORD:
        return None
    keeps_sign = shift.op is Ops.SHR and not dtypes.is_unsigned(x.dtype)
    if n.op is Ops.CONST:
        return shift.replace(src=(x, n.const_like(_WORD - 1))) if keeps_sign else x.const_like(0)
    inside = n < _WORD
    if keeps_sign:
        return shift.replace(src=(x, inside.where(n, n.const_like(_WORD - 1))))
    return inside.where(shift.replace(src=(x, n & (_WORD - 1))), x.const_like(0))


@rule(UPat(Ops.CAST, _narrow, src=(UPat.var("x", dtypes.floats),), name="cast"))
def narrow_of_float(cast: UOp, x: UOp) -> UOp:
    """int8(x: float) -> int8(the nearest to int32(x) that int8 has)"""
    low, high = int(dtypes.min(cast.dtype)), int(dtypes.max(cast.dtype))
    whole = x.cast(dtypes.int32)
    whole = (whole < low).where(whole.const_like(low), whole)
    return (whole > high).where(whole.const_like(high), whole).cast(cast.dtype)


@rule(UPat(Ops.MOD, dtypes.sints, src=(UPat.var("a"), UPat.var("b")), name="x"))
def remainder_with_signs(x: UOp, a: UOp, b: UOp) -> UOp | None:
    """a % b -> a - (a / b) * b  where an operand may be negative, in 32 bits"""
    divides = x.arg is not None or b.vmin > 0 or b.vmax < 0
    if x.dtype.bits > _WORD or not divides or (a.vmin >= 0 and b.vmin >= 0):
        return None
    return a - UOp(Ops.IDIV, x.dtype, (a, b), x.arg) * b


integers = PatternMatcher(
    [
        narrow_in_32_bits,
        shift_by_32_bits,
        shift_within_a_word,
        division_by_zero,
        remainder_with_signs,
        narrow_of_float,
    ],
    name="wgsl: integers",
)
