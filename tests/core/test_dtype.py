"""Dtypes: identity, promotion, and exact rounding against NumPy and ml_dtypes."""

from __future__ import annotations

import math
import pickle
from itertools import combinations_with_replacement

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtype import (
    AddrSpace,
    DType,
    PtrDType,
    dtypes,
    least_upper_dtype,
    round_float,
    sum_acc_dtype,
    to_dtype,
    truncate,
)
from core.errors import DTypeError

NARROW = {
    dtypes.float16: np.float16,
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
    dtypes.float32: np.float32,
}


def test_one_object_per_dtype() -> None:
    assert dtypes.float32.vec(4) is dtypes.float32.vec(4)
    assert dtypes.int.ptr(3) is dtypes.int32.ptr(3)
    assert dtypes.int.ptr(3) is not dtypes.int.ptr(4)
    assert dtypes.float32.vec(4).scalar() is dtypes.float32
    assert dtypes.float32.vec(4).ptr(2).base is dtypes.float32.vec(4)


@pytest.mark.parametrize(
    "dtype", [*dtypes.all, dtypes.half.vec(8), dtypes.int.ptr(5, AddrSpace.LOCAL)], ids=str
)
def test_pickling_keeps_identity(dtype: DType) -> None:
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_names() -> None:
    assert str(dtypes.float32.vec(4)) == "float32.vec(4)"
    assert str(dtypes.float32.ptr(16, AddrSpace.LOCAL)) == "float32* local [16]"
    assert to_dtype("half") is dtypes.float16
    with pytest.raises(DTypeError, match="elements of void"):
        to_dtype("void")
    with pytest.raises(DTypeError, match="unknown dtype 'float33'"):
        to_dtype("float33")


def test_vectors_of_vectors_are_an_error() -> None:
    with pytest.raises(DTypeError):
        dtypes.float32.vec(4).vec(2)
    with pytest.raises(DTypeError):
        dtypes.void.vec(2)


def test_sizes() -> None:
    assert [d.itemsize for d in dtypes.all] == [1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8]
    assert dtypes.float32.vec(4).itemsize == 16
    assert dtypes.float32.ptr(100).itemsize == 8
    assert isinstance(dtypes.bool.ptr(1), PtrDType)


@pytest.mark.parametrize(("a", "b"), [*combinations_with_replacement(dtypes.all, 2)], ids=str)
def test_promotion_is_an_upper_bound(a: DType, b: DType) -> None:
    upper = least_upper_dtype(a, b)
    assert upper is least_upper_dtype(b, a)
    assert upper is least_upper_dtype(a, upper) is least_upper_dtype(b, upper)
    if dtypes.is_int(upper):
        assert dtypes.min(upper) <= min(dtypes.min(a), dtypes.min(b)) or upper is dtypes.uint64
        assert dtypes.max(upper) >= max(dtypes.max(a), dtypes.max(b))


def test_sums_accumulate_wide() -> None:
    assert sum_acc_dtype(dtypes.bool) is dtypes.int32
    assert sum_acc_dtype(dtypes.uint8) is dtypes.uint32
    assert sum_acc_dtype(dtypes.int64) is dtypes.int64
    assert sum_acc_dtype(dtypes.half) is dtypes.float32
    assert sum_acc_dtype(dtypes.double) is dtypes.double


@given(st.integers(-(1 << 70), 1 << 70), st.sampled_from(dtypes.ints))
def test_integers_wrap_as_in_numpy(value: int, dtype: DType) -> None:
    wide = np.array([value & ((1 << 64) - 1)], np.uint64)
    assert truncate(value, dtype) == int(wide.astype(dtype.name)[0])


@given(st.floats(), st.sampled_from(list(NARROW)))
def test_floats_round_as_in_ml_dtypes(value: float, dtype: DType) -> None:
    with np.errstate(all="ignore"):
        # by way of float32 the other library rounds twice, so give it what float32 can hold
        single = float(np.float32(value))
        expected = float(np.array(single, np.float32).astype(NARROW[dtype]))
    got = round_float(single, dtype)
    assert math.isnan(got) if math.isnan(expected) else got == expected
    if not math.isnan(got):
        assert math.copysign(1, got) == math.copysign(1, expected)
    again = truncate(got, dtype)
    assert again == got or math.isnan(got)


@pytest.mark.parametrize("value", [1.794182015458288e308, -1.797e308])
@pytest.mark.parametrize("dtype", list(NARROW))
def test_the_largest_doubles_round_to_infinity(value: float, dtype: DType) -> None:
    """Rounded up to eight bits they would be more than a double holds."""
    got = round_float(value, dtype)
    assert math.isnan(got) or got == math.copysign(math.inf, value)


def test_from_py() -> None:
    assert dtypes.from_py(True) is dtypes.bool
    assert dtypes.from_py(1) is dtypes.int32
    assert dtypes.from_py(1.0) is dtypes.float32
    with pytest.raises(DTypeError, match="no dtype for a value of type str"):
        dtypes.from_py("1")


@pytest.mark.parametrize("dtype", dtypes.floats, ids=str)
def test_finfo(dtype: DType) -> None:
    info = dtypes.finfo(dtype)
    exponent, mantissa = info
    assert 1 + exponent + mantissa == info.bits == dtype.bits
    assert round_float(1 + info.eps, dtype) == 1 + info.eps > round_float(1 + info.eps / 2, dtype)
    assert round_float(info.max, dtype) == info.max == -info.min
    beyond = round_float(info.max * (1 + info.eps), dtype)
    assert not math.isfinite(beyond)
    assert round_float(info.smallest_normal, dtype) == info.smallest_normal
    if dtype.fmt is not None:
        theirs = np.finfo(dtype.name)
        assert (info.eps, info.smallest_normal, info.max) == (theirs.eps, theirs.tiny, theirs.max)


def test_limits_of_a_dtype() -> None:
    assert [(d.min, d.max) for d in (dtypes.int8, dtypes.uint16, dtypes.bool, dtypes.float16)] == [
        (-128, 127),
        (0, 65535),
        (False, True),
        (-math.inf, math.inf),
    ]
    with pytest.raises(DTypeError, match=r"finfo of int32(.|\n)*hint"):
        dtypes.finfo(dtypes.int32)


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_the_limits_of_a_dtype_are_values_of_it(dtype: DType) -> None:
    for value in (dtypes.min(dtype), dtypes.max(dtype)):
        assert truncate(value, dtype) == value
