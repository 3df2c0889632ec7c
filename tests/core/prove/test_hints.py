"""Samples meet ties, what lies beside them, the ends of narrow floats and large integers; and what
only moves and converts numbers tolerates no difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.passes.decompose.bits import same_bits
from core.passes.decompose.narrow import fewer_bits, narrow, round_to_odd
from core.prove.decide import Checker
from core.prove.samples.hints import hints_of, hints_of_kernel
from core.prove.terms.term import Terms
from core.uop import Ops, UOp

BF16, HALF, SINGLE, DOUBLE = dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64
NARROW = (*dtypes.fp8s, HALF, BF16)


def loaded(dtype: DType, number: int = 0) -> UOp:
    place = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(64), (), number)
    return place.index(UOp.range(64, 0)).load(dtype=dtype)


def away_from_zero(x: UOp) -> UOp:
    """float32 to bfloat16 with ties away from zero."""
    bits = same_bits(x, dtypes.uint32)
    quiet = (bits >> 16) | 0x40
    code = x.ne(x).where(quiet, (bits + 0x8000) >> 16)
    return same_bits(code.cast(dtypes.uint16), BF16)


WRONG: dict[str, tuple[UOp, Callable[[UOp], UOp], DType]] = {
    "ties away from zero": (loaded(SINGLE), away_from_zero, BF16),
    "a double rounded twice": (loaded(DOUBLE), lambda x: x.cast(SINGLE).cast(BF16), BF16),
    "a double rounded twice to a half": (loaded(DOUBLE), lambda x: x.cast(SINGLE).cast(HALF), HALF),
    "an int64 rounded twice": (
        loaded(dtypes.int64),
        lambda x: round_to_odd(x.cast(DOUBLE)).cast(BF16),
        BF16,
    ),
    "an int32 rounded twice": (loaded(dtypes.int32), lambda x: x.cast(SINGLE).cast(BF16), BF16),
    "a larger number stays finite": (
        loaded(SINGLE),
        lambda x: (x < 500.0).where(x, x.const_like(448.0)).cast(dtypes.fp8e4m3),
        dtypes.fp8e4m3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rounding_is_found(name: str) -> None:
    x, function, dtype = WRONG[name]
    found = Checker().check(x.cast(dtype), function(x))
    assert found.kind == "differs", found


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_right_roundings_are_none(dtype: DType) -> None:
    x, wide = loaded(SINGLE), loaded(DOUBLE)
    assert Checker().check(x.cast(dtype), narrow(x, dtype)).kind == "sampled"
    assert Checker().check(wide.cast(dtype), round_to_odd(wide).cast(dtype)).kind == "sampled"


def test_a_right_rounding_of_large_integers_is_none() -> None:
    x = loaded(dtypes.int64)
    by_way = round_to_odd(fewer_bits(x).cast(DOUBLE)).cast(BF16)
    assert Checker().check(x.cast(BF16), by_way).kind == "sampled"


@pytest.mark.parametrize(("dtype", "between"), [(dtypes.int16, BF16), (DOUBLE, SINGLE),
                                                (dtypes.int32, SINGLE)])  # fmt: skip
def test_a_cast_that_rounds_is_not_dropped(dtype: DType, between: DType) -> None:
    x, wide = loaded(dtype), DOUBLE if dtype is not dtypes.int16 else SINGLE
    found = Checker().check(x.cast(between).cast(wide), x.cast(wide))
    assert found.kind == "differs", found


def test_what_only_chooses_tolerates_nothing() -> None:
    x, y = loaded(SINGLE), loaded(SINGLE, 1)
    condition = x < 0.0
    chosen = condition.where(x, y)
    nearly = condition.where(x * (1 + 2.0**-23), y)
    assert Checker().check(chosen, nearly).kind == "differs"
    assert Checker().check(x + y + 1.0, x + (y + 1.0)).kind == "sampled", "this may be rounded"


def test_integers_beside_constants_are_tried() -> None:
    x, y = loaded(dtypes.int32), loaded(SINGLE)
    bound = 1_234_567
    before = (x < bound).where(y, y.const_like(1.0))
    after = (x < bound + 1).where(y, y.const_like(1.0))
    assert Checker().check(before, after).kind == "differs"


def test_hints_are_values_of_their_dtypes() -> None:
    terms = Terms()
    x = terms.input("x", SINGLE, -np.inf, np.inf)
    found = hints_of([(terms.alu(Ops.CAST, BF16, (x,)), x)])
    values = {float(v) for v in found[SINGLE]}
    assert {1 + 2.0**-8, 1 + 3 * 2.0**-8, -(1 + 2.0**-8)} <= values
    assert all(np.float32(v) == v for v in values)


def test_hints_of_a_kernel_are_of_what_it_converts_and_divides_by() -> None:
    x, n = loaded(SINGLE), loaded(dtypes.int32, 1)
    found = hints_of_kernel(UOp.sink(x.cast(BF16), n // 7))
    assert 1 + 2.0**-8 in found[SINGLE]
    top = dtypes.max(dtypes.int32) // 7 * 7
    assert {top - 1, top, -6, 8} & {*found[dtypes.int32].tolist()} >= {top - 1, top, 8}
    assert hints_of_kernel(UOp.sink(x + x)) == {}
