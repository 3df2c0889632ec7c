"""Corners of functions that need no other library to judge: exact remainders, order of NaN,
derivatives that are given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import Tensor, dtypes
from core.dtype import DType
from core.helpers import Context
from core.nn.optim import SGD, Adam, Optimizer


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_remainders_are_exact(kind: type[np.floating[Any]]) -> None:
    info, rng = np.finfo(kind), np.random.default_rng(0)
    low, high = np.log2(float(info.smallest_subnormal)), np.log2(float(info.max))
    with np.errstate(all="ignore"):
        x, y = (np.exp2(rng.uniform(low, high, (2, 3000))) * rng.choice([-1, 1], (2, 3000))).astype(
            kind
        )
    wanted: list[float] = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        rest = math.fmod(a, b) if b else math.nan
        wanted.append(rest + b if rest and (rest < 0) != (b < 0) else rest)
    found = (Tensor(x) % Tensor(y)).numpy()
    np.testing.assert_array_equal(found, np.array(wanted).astype(kind))
    with np.errstate(all="ignore"):
        quotients = np.floor_divide(x, y)
    np.testing.assert_array_equal((Tensor(x) // Tensor(y)).numpy(), quotients)


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
@pytest.mark.parametrize("dtype", dtypes.ints, ids=str)
def test_quotients_by_zero_are_zero(dtype: DType, device: str) -> None:
    least = int(dtypes.min(dtype))
    values = [v for v in (least, -3, -1, 0, 1, 5, int(dtypes.max(dtype))) if v >= least]
    x = Tensor(values, dtype=dtype, device=device).realize()
    for zero in (Tensor([0] * len(values), dtype=dtype, device=device).realize(), 0):
        assert (x // zero).tolist() == x.idiv(zero).tolist() == [0] * len(values)
        assert (x % zero).tolist() == values


def test_nan_has_a_place() -> None:
    x = Tensor([1.0, math.nan, 2.0, math.nan])
    assert x.argmax().item() == x.argmin().item() == 1
    values, order = x.sort()
    np.testing.assert_array_equal(values.numpy(), [1, 2, math.nan, math.nan])
    assert order.tolist() == [0, 2, 1, 3]
    assert x.argsort(descending=True).tolist() == [1, 3, 2, 0]


def test_scatter_reduce_of_the_least_integers() -> None:
    index = Tensor([0, 0])
    low = Tensor([-128, 5], dtype="int8")
    zeros = Tensor([0, 0], dtype="int8")
    assert zeros.scatter_reduce(0, index, low, "amin").tolist() == [-128, 0]
    unsigned = Tensor([0, 7], dtype="uint8")
    full = Tensor([9, 9], dtype="uint8")
    assert full.scatter_reduce(0, index, unsigned, "amin").tolist() == [0, 9]


def test_derivatives_have_derivatives() -> None:
    x = Tensor([0.3, -1.2], dtype="float64")
    (first,) = x.tanh().sum().gradient(x)
    (second,) = first.sum().gradient(x)
    t = np.tanh(np.array([0.3, -1.2]))
    np.testing.assert_allclose(second.numpy(), -2 * t * (1 - t * t), rtol=1e-12)


@pytest.mark.parametrize("lr", [1e10, 1e-8])
@pytest.mark.parametrize("kind", [SGD, Adam])
def test_learning_rates_keep_their_digits(kind: Any, lr: float) -> None:
    saved, dtypes.default_float = dtypes.default_float, dtypes.float16
    try:
        x = Tensor([1.0], dtype="float32", requires_grad=True)
        optimizer: Optimizer = kind([x], lr=lr)
        with Context(TRAINING=1):
            x.sum().backward()
            optimizer.step()
        np.testing.assert_allclose(optimizer.lr.numpy(), [lr], rtol=1e-6)
        np.testing.assert_allclose(x.numpy(), [1 - lr], rtol=1e-6)
    finally:
        dtypes.default_float = saved


def test_repeated_elements_come_back_from_another_device() -> None:
    x = Tensor([1.0, 2.0], device="REFERENCE").realize().reshape(2, 1).expand(2, 3)
    assert x.tolist() == [[1.0] * 3, [2.0] * 3]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_integer_powers_wrap_around(dtype: str, device: str) -> None:
    base = np.array([0, 1, 2, 3, 10, 7, 5], dtype)
    powers = np.array([0, 3, 7, 20, 10, 40, 1], dtype)
    found = Tensor(base, device=device).pow(Tensor(powers, device=device))
    assert found.tolist() == np.power(base, powers).tolist()
    twos = 2 ** Tensor(powers, device=device)
    assert twos.tolist() == np.power(np.array(2, dtype), powers).tolist()


def test_negative_integer_powers_are_truncated_and_powers_of_bools_are_bools() -> None:
    base, powers = Tensor([-1, 1, 2, -1]), Tensor([-1, -5, -1, -2])
    assert base.pow(powers).tolist() == [-1, 1, 0, 1]
    truth = Tensor([True, True, False, False]).pow(Tensor([True, False, True, False]))
    assert truth.tolist() == [True, True, False, True]
