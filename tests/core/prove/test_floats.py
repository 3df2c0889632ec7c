"""Floats: what differs at the edge of a dtype, on the way or in the sign of zero is no rounding."""

from __future__ import annotations

import math

import pytest

from core.dtype import DType, dtypes
from core.prove.decide import Checker
from core.prove.verdict import Verdict
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType

RIGHT = ("proved", "sampled")


def loaded(number: int, dtype: DType = dtypes.float32, at: UOp | int = 0) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(16), (), number).index(at).load()


X, Y, Z = (loaded(n) for n in range(3))


def check(before: UOp, after: UOp) -> Verdict:
    return Checker().check(before, after)


def is_infinite(x: UOp) -> UOp:
    return x.alu(Ops.CMPEQ, x.const_like(math.inf))


@pytest.mark.parametrize(
    ("dtype", "limit"),
    [(dtypes.bfloat16, 40000.0), (dtypes.float16, 40000.0), (dtypes.float32, 2e38),
     (dtypes.float64, 1e39)],
    ids=str,
)  # fmt: skip
def test_a_large_number_is_not_infinite(dtype: DType, limit: float) -> None:
    x = loaded(0, dtype)
    large = x.const_like(limit) < x
    assert check(large.where(x.const_like(math.inf), x), x).kind == "differs"


def test_samples_that_overflow_on_the_way_of_one_side() -> None:
    hidden = is_infinite(X * 3.0).where(X.const_like(0.0), X)
    found = check(is_infinite(X).where(X, hidden), X)
    assert found.kind == "unchecked" and "overflows" in found.how


def test_samples_that_overflow_on_both_sides_are_told() -> None:
    found = check((X * Y) * Z, X * (Y * Z))
    assert found.kind == "sampled"
    assert found.how == "equal but for rounding, but for samples that overflow on the way"


def test_a_sum_that_is_infinite_by_itself() -> None:
    r = UOp.range(4, 1, AxisType.REDUCE)
    for op in (Ops.ADD, Ops.MUL):
        total = loaded(0, at=r).reduce(op, r)
        none = is_infinite(total).where(total.const_like(0.0), total)
        assert check(none, total).kind == "differs"


def test_the_sign_of_a_zero_is_no_rounding() -> None:
    assert check(X * Y + 0.0, X * Y).kind == "differs"
    assert check(X * Y + Z, UOp(Ops.MULACC, dtypes.float32, (X, Y, Z))).kind == "sampled"


def test_nans_that_signal_are_compared() -> None:
    bits = UOp(Ops.DEFINE_VAR, dtypes.uint32, (), ("bits", 0x7F800001, 0x7FBFFFFF))
    signalling = UOp(Ops.BITCAST, dtypes.float32, (bits,))
    assert Checker().check(signalling, signalling * 1.0).kind != "differs"
    assert Checker().check(signalling, signalling.const_like(1.0)).kind == "differs"


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float16], ids=str)
def test_rounding_of_what_both_are_made_of_is_none(dtype: DType) -> None:
    """Whatever the sum was rounded to, both convert the same number."""
    total = loaded(0, dtype) + loaded(1, dtype)
    wide = total.cast(dtypes.float32)
    near = wide * (1 + dtypes.finfo(dtype).eps / 8)
    assert check(wide, near).kind == "differs"
    assert check(wide, wide * 1.0).kind in RIGHT


def test_a_largest_value_is_not_any_value() -> None:
    number = UOp.const(dtypes.float16, 0.84130859375)
    r = UOp.range(184, 1, AxisType.REDUCE)
    assert check(number.reduce(Ops.MAX, r), number).kind in RIGHT


@pytest.mark.parametrize(
    ("dtype", "least"), [(dtypes.float32, 2.0**-149), (dtypes.float64, 2.0**-1074)], ids=str
)
def test_the_inverse_of_the_least_number_is_no_number(dtype: DType, least: float) -> None:
    x = loaded(0, dtype)
    quotient = x.alu(Ops.FDIV, x.const_like(least))
    assert check(quotient, x * math.inf).kind == "differs"
    assert check(x.alu(Ops.FDIV, x.const_like(2.0**-100)), x * 2.0**100).kind == "proved"
