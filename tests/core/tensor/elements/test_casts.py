"""Casts between all dtypes mean the same on every device, folded or computed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from core import Tensor
from core.dtype import DType, dtypes
from core.helpers import Context
from core.uop import Ops, UOp, graph_rewrite
from core.uop.bits import from_bits, to_bits
from core.uop.facts.meaning import cast_value
from core.uop.symbolic import symbolic
from tests.core.uop.evaluator import same, value

DEVICES = ("CPU", "REFERENCE")
PLAIN = tuple(d for d in dtypes.all if d not in dtypes.fp8s)


def corners(dtype: DType) -> list[bool | int | float]:
    """Values of a dtype next to which conversions go wrong."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_int(dtype):
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        near = {0, 1, -1, 2, low, low + 1, high, high - 1}
        near |= {s * (1 << k) + d for k in (7, 8, 15, 16, 24, 31, 32, 53, 63) for s in (1, -1)
                 for d in (-1, 0, 1)}  # fmt: skip
        # next to what lies half way between two floats of 8, 11, 24 or 53 bits
        near |= {s * ((1 << k) + half + d) for k in (30, 31, 62, 63) for s in (1, -1)
                 for half in (1 << k >> 8, 1 << k >> 11, 1 << k >> 24, 1 << k >> 53)
                 for d in (-1, 0, 1)}  # fmt: skip
        return sorted(v for v in near if low <= v <= high)
    values = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, math.inf, -math.inf, math.nan, 1e30]
    for limit in (127, 128, 255, 256, 32767, 32768, 65535, 2.0**31, 2.0**32, 2.0**63, 2.0**64):
        for sign in (1, -1):
            bits = to_bits(float(cast_value(sign * limit, dtype)), dtype)
            values += [float(from_bits(b, dtype)) for b in (bits - 1, bits, bits + 1)]
            values += [sign * (limit + part) for part in (-0.5, 0.5, 1.5)]
    return [*sorted({float(cast_value(v, dtype)) for v in values if v == v}), math.nan]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source", PLAIN, ids=str)
def test_every_pair_of_dtypes(source: DType, device: str) -> None:
    values = corners(source)
    for target in PLAIN:
        wanted = [cast_value(v, target) for v in values]
        memory = Tensor(values, dtype=source, device=device).realize()
        found = memory.cast(target).tolist()
        np.testing.assert_array_equal(found, wanted, err_msg=f"{source} to {target}")


@pytest.mark.parametrize("source", dtypes.all, ids=str)
def test_two_casts_in_a_row_keep_their_meaning_when_simplified(source: DType) -> None:
    """Of all ways through another dtype to a third one; NaN, saturation and wraparound included."""
    values = corners(source) if source in PLAIN else [0.0, -0.0, 1.5, -3.0, math.nan]
    values = [cast_value(v, source) for v in values]
    low, high = dtypes.min(source), dtypes.max(source)
    x = UOp(Ops.DEFINE_VAR, source, (), ("x", low, high))
    for middle, target in itertools.product(dtypes.all, repeat=2):
        casts = UOp(Ops.CAST, target, (UOp(Ops.CAST, middle, (x,)),))
        simpler = graph_rewrite(casts, symbolic)
        for v in values:
            wanted = cast_value(cast_value(v, middle), target)
            assert same(value(simpler, {x: v}), wanted), f"{v}: {casts.render()}"


@pytest.mark.parametrize("target", dtypes.ints, ids=str)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 3e9, -3e9, 1e19, 300.7, -1.0])
def test_constants_are_cast_as_memory_is(number: float, target: DType) -> None:
    constant = Tensor.full((2,), number, dtype="float64").cast(target)
    memory = Tensor([number, number], dtype="float64").realize().cast(target)
    assert constant.tolist() == memory.tolist() == [cast_value(number, target)] * 2


def test_floats_saturate_and_nan_is_zero() -> None:
    x = Tensor([3e9, -3e9, math.nan, math.inf, -math.inf, -1.5])
    assert x.cast("int32").tolist() == [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31), -1]
    assert x.cast("uint8").tolist() == [255, 0, 0, 255, 0, 0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("target", [dtypes.int8, dtypes.uint8], ids=str)
def test_bitcasts_of_no_axes(target: DType, device: str) -> None:
    x = Tensor(200, dtype="uint8", device=device).realize()
    with Context(OPT=0):
        assert x.bitcast(target).tolist() == {"int8": -56, "uint8": 200}[target.name]
    assert Tensor(6, dtype="uint8", device=device).bitcast("int8").item() == 6


def test_stored_bits_are_read() -> None:
    bits = Tensor([[1.0, -2.0]]).realize().bitcast("uint8")
    want = np.array([[1.0, -2.0]], np.float32).view(np.uint8)
    np.testing.assert_equal(bits.numpy(), want)
    np.testing.assert_equal(bits.realize().numpy(), want)
