"""The rules that pick what machines do well: subtraction, shifts, multiply-add.

`ctx` is the Target. They undo what the symbolic rules normalise for their own sake. Never makes an
op that the target lacks.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.passes.decompose.division import divide
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

_signed = (*dtypes.sints, *dtypes.floats)


def _power(c: UOp) -> int | None:
    """k where the constant is 2 ** k."""
    value = c.arg
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def _never_negative(x: UOp) -> bool:
    return x.vmin >= 0


@rule(
    UPat(
        Ops.ADD,
        _signed,
        src=[UPat.var("x"), UPat(Ops.MUL, src=(UPat.var("y"), UPat.const(None, -1)))],
    )
)
def fuse_subtraction(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    """x + y * -1 -> x - y"""
    return x - y if Ops.SUB in ctx.ops else None


@rule(UPat(Ops.MUL, _signed, src=(UPat.var("x"), UPat.const(None, -1))))
def fuse_negation(ctx: Target, x: UOp) -> UOp | None:
    """x * -1 -> -x"""
    return x.neg() if Ops.NEG in ctx.ops else None


def _has_wide_product(target: Target, x: UOp) -> bool:
    return x.dtype in (dtypes.int32, dtypes.int64) and target.supports(dtypes.int64)


@rule(UPat(Ops.IDIV, dtypes.ints, src=(UPat.var("x"), UPat.cvar("c", vec=False))))
def divide_by_constant(ctx: Target, x: UOp, c: UOp) -> UOp | None:
    """x // 2 ** k -> x >> k;  x // c -> (x * m) >> s  when x >= 0"""
    if not _never_negative(x):
        return None
    if (k := _power(c)) is not None:
        return x >> k
    if ctx.simd_bytes or not _has_wide_product(ctx, x):
        return None  # the compilers of these do it, and vectors have no wide product
    return divide(x, c.arg) if c.arg > 0 else None


@rule(UPat(Ops.MOD, dtypes.ints, src=(UPat.var("x"), UPat.cvar("c", vec=False))))
def remainder_by_constant(ctx: Target, x: UOp, c: UOp) -> UOp | None:
    """x % 2 ** k -> x & (2 ** k - 1);  x % c -> x - x // c * c  when x >= 0"""
    if not _never_negative(x):
        return None
    if _power(c) is not None:
        return x & (c.arg - 1)
    if ctx.simd_bytes or not _has_wide_product(ctx, x) or c.arg <= 0:
        return None
    quotient = divide(x, c.arg)
    return None if quotient is None else x - quotient * c.arg


@rule(UPat(Ops.ADD, (dtypes.float16, dtypes.float32, dtypes.float64),
           src=[UPat(Ops.MUL, src=(UPat.var("a"), UPat.var("b"))), UPat.var("c")]))  # fmt: skip
def multiply_add(ctx: Target, a: UOp, b: UOp, c: UOp) -> UOp | None:
    """a * b + c -> fused multiply-add, rounded once"""
    if not ctx.has_fma or Ops.MULACC not in ctx.ops or not ctx.supports(a.dtype):
        return None
    return a.alu(Ops.MULACC, b, c)


fusing = PatternMatcher(
    [fuse_subtraction, fuse_negation, divide_by_constant, remainder_by_constant, multiply_add],
    name="decompose: fuse",
)
