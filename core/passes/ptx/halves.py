"""Floats of 16 bits through float32 where PTX has no instruction for them, and max that keeps NaN.

float32 is wide enough that rounding twice gives what rounding once would, for + - * (S. Figueroa,
"When is double rounding innocuous?", SIGNUM 30, 1995). 8-bit floats are left to `decompose`.
"""

from __future__ import annotations

from typing import Final

from core.dtype import dtypes
from core.passes.ptx.integers import converted
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule

_HALF: Final = GroupOp.Comparison | {
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.TRUNC
}  # fmt: skip
"""What every target has for float16."""


@rule(UPat(GroupOp.ALU - {Ops.WHERE}, name="x"))
def half_in_float32(ctx: Target, x: UOp) -> UOp | None:
    """f(a, b) -> half(f(float32(a), float32(b)))  where f has no instruction for halves"""
    dtype = x.src[-1].dtype.scalar()
    if dtype is dtypes.float16:
        native = x.op in _HALF or (x.op is Ops.MAX and ctx.nan_max)
    elif dtype is dtypes.bfloat16:
        native = x.op is Ops.MULACC and ctx.supports(dtype)  # rounds once
    else:
        return None
    if native:
        return None
    src = [converted(s, dtypes.float32) for s in x.src]
    value = src[0].alu(x.op, *src[1:])
    return value if x.op in GroupOp.Comparison else value.cast(dtype)


@rule(UPat(Ops.MAX, dtypes.floats, src=(UPat.var("x"), UPat.var("y"))))
def max_that_keeps_nan(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """max(x, y) -> (y < x or x is NaN) ? x : y  where max would drop a NaN"""
    if ctx.nan_max and x.dtype.bits < 64:
        return None
    for constant, other in ((x, y), (y, x)):
        if constant.op is Ops.CONST and constant.arg == constant.arg:
            return (other < constant).where(constant, other)
    return ((y < x) | x.ne(x)).where(x, y)


halves = PatternMatcher([half_in_float32, max_that_keeps_nan], name="halves")
