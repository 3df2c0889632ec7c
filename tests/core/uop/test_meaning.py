"""The meaning of ops: corners, NumPy arrays against scalars, bit patterns against ml_dtypes."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.dtype import DType, dtypes, truncate
from core.errors import DTypeError
from core.uop import GroupOp, Ops
from core.uop.bits import from_bits, to_bits
from core.uop.facts.meaning import (
    cast_value,
    divide,
    evaluate,
    on_bools,
    on_floats,
    on_ints,
    remainder,
    threefry,
)
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype, round_array

INF, NAN = math.inf, math.nan
NARROW = {
    "bfloat16": ml_dtypes.bfloat16,
    "fp8e4m3": ml_dtypes.float8_e4m3fn,
    "fp8e5m2": ml_dtypes.float8_e5m2,
}
corner_floats = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, -1e-30, INF, -INF, NAN, 127.5, 2.0**40)


def same(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return (x != x and y != y) or (x == y and math.copysign(1, x) == math.copysign(1, y))
    return type(x) is type(y) and x == y


@pytest.mark.parametrize(
    ("a", "b", "q", "r"),
    [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1), (5, 0, 0, 5), (-5, 0, 0, -5)],
)
def test_division_truncates_toward_zero(a: int, b: int, q: int, r: int) -> None:
    assert (divide(a, b), remainder(a, b)) == (q, r)
    assert a == b * q + r


@pytest.mark.parametrize(
    ("op", "dtype", "values", "wanted"),
    [
        (Ops.ADD, dtypes.int8, (127, 1), -128),
        (Ops.SUB, dtypes.uint8, (0, 1), 255),
        (Ops.MUL, dtypes.int32, (1 << 30, 4), 0),
        (Ops.IDIV, dtypes.int8, (-128, -1), -128),
        (Ops.NEG, dtypes.int8, (-128,), -128),
        (Ops.SHL, dtypes.int32, (1, 31), -(1 << 31)),
        (Ops.SHL, dtypes.int32, (1, 32), 0),
        (Ops.SHL, dtypes.int32, (1, -1), 0),
        (Ops.SHR, dtypes.int32, (-8, 1), -4),
        (Ops.SHR, dtypes.int32, (-8, 40), -1),
        (Ops.SHR, dtypes.int8, (-8, 9), -1),
        (Ops.SHR, dtypes.uint8, (200, 9), 0),
        (Ops.POW, dtypes.int32, (-3, 3), -27),
        (Ops.POW, dtypes.int32, (2, -1), 0),
        (Ops.POW, dtypes.int32, (-1, -3), -1),
        (Ops.POW, dtypes.uint8, (3, 6), 729 % 256),
        (Ops.MULACC, dtypes.int8, (100, 2, 1), -55),
        (Ops.ADD, dtypes.bool, (True, True), True),
        (Ops.MUL, dtypes.bool, (True, False), False),
        (Ops.MAX, dtypes.bool, (True, False), True),
        (Ops.XOR, dtypes.bool, (True, True), False),
        (Ops.WHERE, dtypes.int8, (True, 3, 4), 3),
        (Ops.CMPLT, dtypes.bool, (1, 2), True),
        (Ops.CMPNE, dtypes.bool, (NAN, NAN), True),
        (Ops.CMPEQ, dtypes.bool, (-0.0, 0.0), True),
        (Ops.FDIV, dtypes.float32, (1.0, 0.0), INF),
        (Ops.FDIV, dtypes.float32, (1.0, -0.0), -INF),
        (Ops.FDIV, dtypes.float32, (0.0, 0.0), NAN),
        (Ops.RECIPROCAL, dtypes.float32, (-INF,), -0.0),
        (Ops.EXP2, dtypes.float32, (2000.0,), INF),
        (Ops.EXP2, dtypes.float32, (-INF,), 0.0),
        (Ops.LOG2, dtypes.float32, (-0.0,), -INF),
        (Ops.LOG2, dtypes.float32, (-1.0,), NAN),
        (Ops.SQRT, dtypes.float32, (-0.0,), -0.0),
        (Ops.SQRT, dtypes.float32, (-1.0,), NAN),
        (Ops.SIN, dtypes.float32, (INF,), NAN),
        (Ops.TRUNC, dtypes.float32, (-0.5,), -0.0),
        (Ops.TRUNC, dtypes.float32, (-INF,), -INF),
        (Ops.MAX, dtypes.float32, (NAN, 1.0), NAN),
        (Ops.MAX, dtypes.float32, (1.0, NAN), NAN),
        (Ops.POW, dtypes.float32, (-2.0, 3.0), -8.0),
        (Ops.POW, dtypes.float32, (-2.0, 0.5), NAN),
        (Ops.POW, dtypes.float32, (-0.0, -1.0), -INF),
        (Ops.POW, dtypes.float32, (0.0, -2.0), INF),
        (Ops.POW, dtypes.float32, (-1e30, 11.0), -INF),
        (Ops.ADD, dtypes.float16, (60000.0, 60000.0), INF),
        (Ops.ADD, dtypes.float32, (16777216.0, 1.0), 16777216.0),
        (Ops.CAST, dtypes.int32, (-2.9,), -2),
        (Ops.CAST, dtypes.uint8, (-1.0,), 0),
        (Ops.CAST, dtypes.uint8, (255.9,), 255),
        (Ops.CAST, dtypes.uint8, (256.0,), 255),
        (Ops.CAST, dtypes.int8, (-128.9,), -128),
        (Ops.CAST, dtypes.int8, (1e30,), 127),
        (Ops.CAST, dtypes.int32, (NAN,), 0),
        (Ops.CAST, dtypes.int32, (INF,), 2**31 - 1),
        (Ops.CAST, dtypes.int32, (-INF,), -(2**31)),
        (Ops.CAST, dtypes.uint64, (2.0**63,), 2**63),
        (Ops.CAST, dtypes.uint64, (2.0**64,), 2**64 - 1),
        (Ops.CAST, dtypes.int64, (2.0**63,), 2**63 - 1),
        (Ops.CAST, dtypes.int8, (300,), 44),
        (Ops.COS, dtypes.float32, (INF,), NAN),
        (Ops.CAST, dtypes.bool, (NAN,), True),
        (Ops.CAST, dtypes.bool, (0.1,), True),
        (Ops.CAST, dtypes.float32, (True,), 1.0),
        (Ops.CAST, dtypes.float16, (65520,), INF),
    ],
)
def test_corners(op: Ops, dtype: DType, values: tuple[Any, ...], wanted: Any) -> None:
    assert same(evaluate(op, dtype, values), wanted)


def test_unknown_meanings_are_errors() -> None:
    with pytest.raises(DTypeError, match="EXP2 has no meaning on int32"):
        evaluate(Ops.EXP2, dtypes.int32, (1,))
    with pytest.raises(DTypeError, match="IDIV has no meaning on float32"):
        evaluate_arrays(Ops.IDIV, dtypes.float32, [np.ones(1, np.float32)] * 2, dtypes.float32)


@given(st.integers(-(2**63), 2**64 - 1))
def test_integers_to_floats_are_rounded_once(value: int) -> None:
    assert cast_value(value, dtypes.float32) == float(np.array([value]).astype(np.float32)[0])
    assert cast_value(value, dtypes.float64) == float(value)
    wanted = min(
        (abs(Fraction(f) - value), to_bits(f, dtypes.bfloat16) & 1, f)
        for f in _neighbours(float(value), dtypes.bfloat16)
    )[2]
    assert cast_value(value, dtypes.bfloat16) == wanted


def _neighbours(value: float, dtype: DType) -> list[float]:
    bits = to_bits(truncate(value, dtype), dtype)
    return [float(from_bits(b, dtype)) for b in (bits - 1, bits, bits + 1) if 0 <= b < 1 << 15] + (
        [float(from_bits(b, dtype)) for b in (bits - 1, bits, bits + 1) if b > 1 << 15]
    )


@given(*[st.floats(width=32, allow_nan=False, allow_infinity=False)] * 3)
def test_multiply_add_rounds_once(a: float, b: float, c: float) -> None:
    found = evaluate(Ops.MULACC, dtypes.float32, (a, b, c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    near = np.float32(float(exact)) if abs(exact) < 2**100 else None
    if near is None or not math.isfinite(float(near)):
        return
    with np.errstate(all="ignore"):
        candidates = (
            near,
            np.nextafter(near, np.float32(INF)),
            np.nextafter(near, -np.float32(INF)),
        )
    best = min(abs(Fraction(float(x)) - exact) for x in candidates if math.isfinite(float(x)))
    assert abs(Fraction(found) - exact) == best


# bit patterns


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats_have_the_bits_of_ml_dtypes(name: str) -> None:
    dtype, there = dtypes.named(name), np.dtype(NARROW[name])
    word = np.uint8 if dtype.bits == 8 else np.uint16
    for bits in range(1 << dtype.bits):
        value = float(np.array([bits], word).view(there)[0])
        assert same(float(from_bits(bits, dtype)), value) or value != value
        if value == value:
            assert to_bits(value, dtype) == bits
    assert math.isnan(float(from_bits(to_bits(NAN, dtype), dtype)))


@given(st.integers(0, 2**32 - 1))
def test_float32_bits(bits: int) -> None:
    value = float(from_bits(bits, dtypes.float32))
    assert value != value or to_bits(value, dtypes.float32) == bits
    assert from_bits(bits, dtypes.int32) == struct.unpack("<i", struct.pack("<I", bits))[0]


def test_threefry_known_answers() -> None:
    """Random123's known answers for threefry2x32, 20 rounds: counter and key words of all zeros, of
    all ones, and of the digits of pi."""

    def joined(low: int, high: int) -> int:
        return low | high << 32

    assert threefry(0, 0) == joined(0x6B200159, 0x99BA4EFE)
    assert threefry((1 << 64) - 1, (1 << 64) - 1) == joined(0x1CB996FC, 0xBB002BE7)
    counter, key = joined(0x243F6A88, 0x85A308D3), joined(0x13198A2E, 0x03707344)
    assert threefry(counter, key) == joined(0xC4923A9C, 0x483DF7A0)


# arrays agree with scalars

DTYPES = (*dtypes.all,)
ARITY = {**dict.fromkeys(GroupOp.Unary, 1), **dict.fromkeys(GroupOp.Binary, 2), Ops.MULACC: 3}


def elements(dtype: DType) -> st.SearchStrategy[Any]:
    if dtypes.is_bool(dtype):
        return st.booleans()
    if dtypes.is_int(dtype):
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        return st.one_of(
            st.integers(low, high), st.sampled_from((low, high, 0, 1, high - 1)),
            st.integers(max(low, -9), 9),
        )  # fmt: skip
    return st.one_of(st.floats(width=32), st.sampled_from(corner_floats)).map(
        lambda v: float(truncate(v, dtype))
    )


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_arrays_agree_with_scalars(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(DTYPES))
    table = on_bools if dtypes.is_bool(source) else on_ints if dtypes.is_int(source) else on_floats
    ops = [op for op in table if op is not Ops.THREEFRY or source is dtypes.uint64]
    op = data.draw(st.sampled_from([*ops, Ops.CAST]))
    count = 1 if op is Ops.CAST else 3 if op is Ops.WHERE else ARITY[op]
    dtype = source
    if op is Ops.CAST:
        dtype = data.draw(st.sampled_from(DTYPES))
    elif op in GroupOp.Comparison:
        dtype = dtypes.bool
    kinds = [dtypes.bool, source, source] if op is Ops.WHERE else [source] * count
    rows = [[data.draw(elements(k)) for _ in range(3)] for k in kinds]
    arrays = [np.array(r, numpy_dtype(k)) for r, k in zip(rows, kinds, strict=True)]
    found = evaluate_arrays(op, dtype, arrays, source)
    assert found.dtype == numpy_dtype(dtype)
    for got, values in zip(found.tolist(), zip(*rows, strict=True), strict=True):
        wanted = evaluate(op, dtype, values, source)
        if op is Ops.MAX and wanted == 0:
            assert got == 0  # which zero is left open
        elif op in (Ops.SIN, Ops.COS, Ops.EXP2, Ops.LOG2, Ops.POW) and dtypes.is_float(dtype):
            close = math.isclose(got, wanted, rel_tol=1e-2 if dtype.bits < 32 else 1e-6)
            assert same(got, wanted) or close, (op, values)
        elif op is Ops.MULACC and dtypes.is_float(dtype):  # arrays round twice, in float64
            close = math.isclose(got, wanted, rel_tol=2.0**-7 if dtype.bits < 64 else 1e-9)
            assert same(got, wanted) or close or _cancels(values), (dtype, values)
        else:
            assert same(got, wanted), (op, source, dtype, values)


def _cancels(values: tuple[Any, ...]) -> bool:
    """Whether a * b + c loses most of its digits, or overflows, in float64 with two roundings."""
    a, b, c = map(float, values)
    return not math.isfinite(a * b) or abs(a * b + c) <= 1e-3 * abs(c)


@example(2, dtypes.uint8, dtypes.bool)
@given(st.integers(0, 2**64 - 1), st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_bitcasts_agree(bits: int, source: DType, dtype: DType) -> None:
    if source.itemsize != dtype.itemsize:
        return
    value = from_bits(bits & ((1 << source.bits) - 1), source)
    if value != value:
        return
    wanted = evaluate(Ops.BITCAST, dtype, (value,), source)
    array = np.array([value], numpy_dtype(source))
    found = evaluate_arrays(Ops.BITCAST, dtype, [array], source).tolist()[0]
    assert same(found, wanted) or (found != found and wanted != wanted)


@pytest.mark.parametrize("op", [Ops.BITCAST, Ops.CAST])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint8, dtypes.fp8e4m3])
def test_arrays_keep_their_axes(op: Ops, dtype: DType) -> None:
    for shape in ((), (1,), (2, 1, 3), (0, 2)):
        found = evaluate_arrays(op, dtype, [np.zeros(shape, np.uint8)], dtypes.uint8)
        assert found.shape == shape


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, *dtypes.fp8s], ids=str)
def test_arrays_are_rounded_to_narrow_floats_as_scalars_are(dtype: DType) -> None:
    rng = np.random.default_rng(5)
    info = dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        edges = np.array([info.max, info.smallest_normal, info.eps, 1.0, 0.0, math.inf, math.nan])
        near = edges[:, None] * (1 + info.eps * np.arange(-3, 4) / 8)
        scaled = rng.standard_normal(4000) * np.exp2(rng.integers(-150, 150, 4000))
    extremes = [1e300, -1e300, 5e-324, np.finfo(np.float64).max]
    floats = np.concatenate([near.ravel(), -near.ravel(), scaled, extremes])
    singles = np.where(np.abs(floats) < 1e38, floats, 0.0).astype(np.float32)
    large = np.iinfo(np.int64)
    integers = rng.integers(large.min, large.max, 500) >> rng.integers(0, 60, 500)
    ties = np.array([(1 << 62) + (1 << 54) + d for d in (-1, 0, 1)] + [large.min, large.max])
    unsigned = np.array([(1 << 64) - 1, (1 << 63) + (1 << 55) + 1, 1 << 63], np.uint64)
    for values in (floats, integers, ties, unsigned, singles):
        got = round_array(values, dtype)
        want = np.array([float(cast_value(v, dtype)) for v in values.tolist()], np.float32)
        assert got.dtype == np.float32
        assert np.array_equal(got, want, equal_nan=True)
        known = ~np.isnan(want)
        assert np.array_equal(np.signbit(got)[known], np.signbit(want)[known])
