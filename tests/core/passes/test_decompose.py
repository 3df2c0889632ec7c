"""Decomposed functions against exact references: units of the last place, special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.passes.decompose import decompose
from core.passes.decompose.division import multiplier
from core.passes.decompose.sine import two_over_pi_words
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target, targets
from core.uop import Ops, UOp
from core.uop.facts.meaning import evaluate
from tests.core.passes.kernels import in_memory, numpy_dtype

CPU = targets["x86-64"]
Array = np.ndarray[Any, Any]
INFINITE = (np.inf, -np.inf, np.nan)


def values(f: Callable[..., UOp], *inputs: Array, target: Target = CPU) -> Array:
    """f of the inputs, lane by lane, after decompose for `target`."""
    xs: list[UOp] = []
    for number, array in enumerate(inputs, 1):
        dtype = next(d for d in dtypes.all if numpy_dtype(d) == array.dtype)
        place = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(array.size), (), number).index(0)
        xs.append(place.load(dtype=dtype.vec(array.size)))
    expression = decompose(f(*xs).sink(f(*xs)), target).src[0]
    assert not any(u.op not in target.ops for u in expression.toposort() if u.op in ARITHMETIC)
    dtype, count = expression.dtype.scalar(), expression.dtype.count
    out = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(count), (), 0).index(0)
    found = np.empty(count, numpy_dtype(dtype))
    evaluate_kernel(UOp.sink(out.store(expression)), [in_memory(a) for a in (found, *inputs)])
    return found


ARITHMETIC = {Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW, Ops.THREEFRY}


def error_in_ulp(got: Array, want: Array, dtype: Any) -> float:
    """The largest error; also checks NaN, infinities and signs."""
    rounded = want.astype(dtype)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(got)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    known = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(rounded[known]))
    difference = np.abs(got[finite].astype(np.longdouble) - want[finite].astype(np.longdouble))
    return float((difference / np.spacing(np.abs(rounded[finite]))).max())


def spread(dtype: Any, *parts: Array) -> Array:
    info = np.finfo(dtype)
    special = [0.0, -0.0, *INFINITE, 1.0, -1.0, 0.5, 2.0, info.tiny, info.max, -info.max]
    special += [info.smallest_subnormal, 128.0, -126.0, -149.5, -150.0, 1024.0, -1074.5, -1075.0]
    with np.errstate(over="ignore"):
        return np.concatenate([np.array(special), *parts]).astype(dtype)


FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@FLOATS
def test_exp2(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    limit = 160 if dtype is np.float32 else 1100
    x = spread(dtype, rng.uniform(-limit, limit, 20000), rng.uniform(-1, 1, 5000) * 1e-8)
    with np.errstate(all="ignore"):
        want = np.exp2(x.astype(np.longdouble))
        assert error_in_ulp(values(UOp.exp2, x), want, dtype) < 1.1


@FLOATS
def test_log2(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    low = -45 if dtype is np.float32 else -320
    x = spread(dtype, 10 ** rng.uniform(low, 38, 20000), 1 + rng.uniform(-1e-3, 1e-3, 5000))
    with np.errstate(all="ignore"):
        want = np.log2(x.astype(np.longdouble))
        assert error_in_ulp(values(UOp.log2, x), want, dtype) < 1.0


@FLOATS
def test_sin(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    top = 38 if dtype is np.float32 else 300
    x = spread(
        dtype,
        rng.uniform(-10, 10, 5000),
        rng.uniform(-2e6, 2e6, 5000),
        np.arange(1, 5000) * np.pi / 2,
        10 ** rng.uniform(-40, top, 5000),
    )
    want = np.array([math.sin(v) if math.isfinite(v) else math.nan for v in x.astype(np.float64)])
    assert error_in_ulp(values(UOp.sin, x), want, dtype) < (0.51 if dtype is np.float32 else 3)


@FLOATS
def test_cos(dtype: Any) -> None:
    rng = np.random.default_rng(8)
    top = 38 if dtype is np.float32 else 300
    x = spread(
        dtype,
        rng.uniform(-10, 10, 5000),
        np.arange(1, 5000) * np.pi / 2,
        10 ** rng.uniform(-40, top, 5000),
    )
    want = np.array([math.cos(v) if math.isfinite(v) else math.nan for v in x.astype(np.float64)])
    assert error_in_ulp(values(UOp.cos, x), want, dtype) < (0.51 if dtype is np.float32 else 3)


def test_two_over_pi() -> None:
    # the first words, as listed by IEEE-style libraries: 2/pi = 0.a2f9836e 4e441529 fc2757d1 ...
    assert two_over_pi_words(3) == (0xA2F9836E, 0x4E441529, 0xFC2757D1)


@FLOATS
def test_pow(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([np.abs(rng.standard_normal(2000)) * 5, -rng.integers(1, 9, 500)])
    y = np.concatenate([rng.uniform(-20, 20, 2000), rng.integers(-9, 9, 500)])
    x, y = x.astype(dtype), y.astype(dtype)
    got = values(lambda a, b: a.alu(Ops.POW, b), x, y)
    close = 2e-7 if dtype is np.float32 else 3e-15
    np.testing.assert_allclose(got, np.power(x.astype(np.longdouble), y), rtol=close)


def test_pow_of_special_values() -> None:
    special = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, *INFINITE)
    pairs = [(a, b) for a in special for b in special]
    x, y = (np.array(part, np.float64) for part in zip(*pairs, strict=True))
    want = np.array([evaluate(Ops.POW, dtypes.float64, (a, b)) for a, b in pairs])
    got = values(lambda a, b: a.alu(Ops.POW, b), x, y)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64])
def test_integer_pow_wraps_around(dtype: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 9, 500).astype(dtype)
    y = rng.integers(-3 if dtype is not np.uint8 else 0, 40, 500).astype(dtype)
    if dtype is not np.uint8:
        x = (x - 4).astype(dtype)
    name = dtypes.named(np.dtype(dtype).name)
    want = [evaluate(Ops.POW, name, (int(a), int(b))) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(values(lambda a, b: a.alu(Ops.POW, b), x, y), want)


def test_threefry() -> None:
    rng = np.random.default_rng(6)
    x, key = (rng.integers(0, 2**64, 50, dtype=np.uint64) for _ in range(2))
    want = [
        evaluate(Ops.THREEFRY, dtypes.uint64, (int(a), int(k))) for a, k in zip(x, key, strict=True)
    ]
    got = values(lambda a, b: a.alu(Ops.THREEFRY, b), x, key)
    np.testing.assert_array_equal(got, np.array(want, np.uint64))


NARROW = {
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
    dtypes.float16: np.float16,
}


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_rounding_to_narrow_floats(dtype: DType) -> None:
    rng = np.random.default_rng(8)
    wide = 10 ** rng.uniform(-12, 6, 4000) * rng.choice([-1, 1], 4000)
    x = spread(np.float32, wide, np.arange(-500, 500) / 8)
    got = values(lambda a: a.cast(dtype), x)
    with np.errstate(all="ignore"):
        want = x.astype(NARROW[dtype])
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_widening_every_narrow_float(dtype: DType) -> None:
    width = np.uint8 if dtype in dtypes.fp8s else np.uint16
    x = np.arange(np.iinfo(width).max + 1).astype(width).view(NARROW[dtype])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            values(lambda a: a.cast(dtypes.float32), x), x.astype(np.float32)
        )


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_arithmetic_is_rounded_float32(dtype: DType) -> None:
    rng = np.random.default_rng(9)
    x, y = (rng.standard_normal(500).astype(NARROW[dtype]) for _ in range(2))
    got = values(lambda a, b: (a * b).maximum(b), x, y)
    product = (x.astype(np.float32) * y.astype(np.float32)).astype(NARROW[dtype])
    want = np.maximum(product.astype(np.float32), y.astype(np.float32))
    np.testing.assert_array_equal(got.astype(np.float32), want)


def test_what_a_target_lacks_is_made_of_what_it_has() -> None:
    lacking = {Ops.MAX, Ops.CMPEQ, Ops.FDIV, Ops.SUB, Ops.NEG, Ops.MULACC}
    poor = replace(CPU, ops=CPU.ops - lacking)
    rng = np.random.default_rng(10)
    x, y = (rng.integers(-4, 5, 100).astype(np.float32) for _ in range(2))
    got = values(lambda a, b: a.eq(b).where(a.maximum(b), a - b), x, y, target=poor)
    np.testing.assert_array_equal(got, np.where(x == y, x, x - y))
    whole = values(lambda a, b: a / b, x, np.abs(y) + 1, target=poor)
    np.testing.assert_allclose(whole, x / (np.abs(y) + 1), rtol=1e-6)


@pytest.mark.parametrize("c", [1, 2, 3, 5, 7, 10, 12, 100, 641, 1000, 65535, 2**31 - 1])
def test_division_by_constants(c: int) -> None:
    for largest in (1, c, 1000, 2**20, 2**31 - 1):
        m, s = multiplier(c, largest)
        near = [k * c + d for k in (0, 1, 2, largest // c - 1, largest // c) for d in (-1, 0, 1)]
        for x in [*near, largest, largest // 2]:
            if 0 <= x <= largest:
                assert x * m >> s == x // c


def test_division_on_scalar_targets_has_no_division() -> None:
    x = UOp.range(1000, 0)
    for u in (x // 7, x % 7, x // 8, x % 8):
        made = decompose(u.sink(u), targets["sm_90"])
        assert not any(n.op in (Ops.IDIV, Ops.MOD) for n in made.toposort())
        for i in (0, 1, 6, 7, 8, 500, 999):
            got = made.src[0].substitute({x: UOp.const(dtypes.int32, i)}).simplify()
            assert got.arg == (u.substitute({x: UOp.const(dtypes.int32, i)}).simplify()).arg


def test_products_and_sums_fuse_where_the_target_can() -> None:
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(9), (), 0)
    a, b, c = (place.index(i).load() for i in range(3))
    root = UOp.sink(c + a * b)
    assert decompose(root, CPU).src[0].op is Ops.MULACC
    assert decompose(root, replace(CPU, has_fma=False)).src[0].op is Ops.ADD


@FLOATS
def test_exp2_casts_nothing(dtype: Any) -> None:
    """A cast heeds numbers that no integer is near to, lane by lane where a processor has no such
    instruction."""
    x = UOp.variable("x", 0, 1).cast(dtypes.float32 if dtype is np.float32 else dtypes.float64)
    made = decompose(UOp.sink(x.exp2()), CPU)
    casts = [u for u in made.toposort() if u.op is Ops.CAST and dtypes.is_float(u.src[0].dtype)]
    assert not casts
