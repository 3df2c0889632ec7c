"""Functions of one value of 16 bits: every value is tried, also those that no sample hits."""

from __future__ import annotations

import pytest

from core.dtype import DType, dtypes
from core.prove.decide import TRIED, Checker
from core.uop import Ops, UOp
from tests.core.uop.symbols import num, var

NARROW = (dtypes.float16, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)


def loaded(dtype: DType) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(8), (), 0).index(num(3)).load()


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_right_rules_of_narrow_floats_are_proved(dtype: DType) -> None:
    x = loaded(dtype)
    widened = x.cast(dtypes.float32)
    for before, after in (
        (x.alu(Ops.NEG), widened.alu(Ops.NEG).cast(dtype)),
        (x.sqrt(), widened.sqrt().cast(dtype)),
        (x, widened.cast(dtype)),
    ):
        found = Checker().check(before, after)
        assert (found.kind, found.how) == ("proved", TRIED)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_a_single_wrong_value_is_found(dtype: DType) -> None:
    x = loaded(dtype)
    one = UOp.const(dtype, 1.5)
    wrong = x.eq(one).where(one.const_like(6.0), x)
    assert Checker().check(x.sqrt(), wrong.sqrt()).kind == "differs"


def test_rounding_of_all_integers_of_16_bits() -> None:
    n = var("n", -(1 << 15), (1 << 15) - 1, dtypes.int16)
    whole = n.cast(dtypes.float32)
    assert Checker().check(whole, n.cast(dtypes.int32).cast(dtypes.float32)).kind == "proved"
    off = n.eq(12_345).where(whole + 1.0, whole)
    assert Checker().check(whole, off).kind == "differs"


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_a_zero_of_the_other_sign_is_not_proved(dtype: DType) -> None:
    x = loaded(dtype)
    y = x * x.const_like(-1.0)
    largest = x.alu(Ops.MAX, y)
    assert Checker().check(largest, largest + 0.0).kind != "proved"


def test_values_of_64_bits_are_told_as_they_are() -> None:
    """What z3 finds above the largest int64, of memory and of a variable."""
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.uint64.ptr(64), (), 0)
    for u in (memory.index(num(2)).load(), UOp.variable("v", 0, (1 << 64) - 1, dtypes.uint64)):
        checker = Checker()
        found = checker.check(u < 64, u.cast(dtypes.int32).cast(dtypes.uint64) < 64)
        shown = checker.counterexample
        assert found.kind == "differs"
        assert shown is not None
        given = shown.value(u) if u.op is Ops.DEFINE_VAR else shown.element(memory, u.dtype, 2)
        low = given & 0xFFFF_FFFF
        after = low if low < 1 << 31 else (low - (1 << 32)) % (1 << 64)
        assert given >= 0
        assert (given < 64) != (after < 64)
