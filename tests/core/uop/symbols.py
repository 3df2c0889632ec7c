"""Symbolic rules by name, and variables and constants to try them on."""

from __future__ import annotations

from core.dtype import DType, dtypes
from core.uop import Ops, PatternMatcher, UOp
from core.uop.symbolic import gated, symbolic_index

RULES = {r.name: r for r in (*symbolic_index.rules, *gated.rules)}
INTS = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)


def var(name: str, low: int = -9, high: int = 9, dtype: DType = dtypes.int32) -> UOp:
    return UOp.variable(name, low, high, dtype)


def flag(name: str) -> UOp:
    return UOp(Ops.DEFINE_VAR, dtypes.bool, (), (name, False, True))


def num(value: int | float, dtype: DType = dtypes.int32) -> UOp:
    return UOp.const(dtype, value)


def real(name: str = "f") -> UOp:
    return UOp(Ops.DEFINE_VAR, dtypes.float32, (), (name, float("-inf"), float("inf")))


x, y, z, i = var("x"), var("y"), var("z"), var("i", 0, 31)
p, q = flag("p"), flag("q")
f, g = real("f"), real("g")
pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 0)
vec = dtypes.int32.vec(2)
ones = UOp(Ops.DEFINE_VAR, dtypes.uint8, (), ("u", 0, 255))
true, false = UOp.const(dtypes.bool, True), UOp.const(dtypes.bool, False)


def after(name: str, before: UOp) -> UOp | None:
    """What the rule alone makes of `before`."""
    return PatternMatcher([RULES[name]]).rewrite(before)
