"""Random expressions of integers of 64 bits give on WEBGPU, as pairs of words, what they give on
the CPU. A failure names its seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.dtype import DType, dtypes
from tests.fuzzing import seeds

WIDE = (dtypes.int64, dtypes.uint64)
EDGES = (0, 1, 2, 3, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2)
EACH = 16
"""Expressions of a seed."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 4, 0))


class Expressions:
    """Random expressions of integers of 64 bits, the same on each device."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = np.random.default_rng(seed)
        self.data: list[np.ndarray[Any, Any]] = []
        for at in range(4):
            shift = rng.integers(0, 64, 64).astype(np.uint64)
            bits = rng.integers(0, 2**64, 64, dtype=np.uint64) >> shift
            bits[: len(EDGES)] = rng.permutation(np.array(EDGES, np.uint64))
            rng.shuffle(bits)
            self.data.append(bits.view(np.int64) if at % 2 else bits)

    def on(self, device: str, count: int) -> list[Any]:
        """The values of so many of them."""
        self.rng = random.Random(self.seed)
        self.leaves = [Tensor(values, device=device).realize() for values in self.data]
        made = [self.one(self.rng.randint(1, 3)).bitcast(dtypes.int64).contiguous()
                for _ in range(count)]  # fmt: skip
        Tensor.realize(*made)
        return [one.numpy() for one in made]

    def one(self, depth: int) -> Tensor:
        if depth == 0 or self.rng.random() < 0.1:
            return self.rng.choice(self.leaves)
        a = self.one(depth - 1)
        op = self.rng.choice("+-*/%&|^<=lrwm01234")
        if op.isdigit():
            narrow: tuple[DType, ...] = (*dtypes.ints, dtypes.bool, dtypes.float32)
            other = WIDE[a.dtype is dtypes.int64]
            return (
                -a,
                a.cast(self.rng.choice(narrow)).cast(a.dtype),
                a.cast(other).cast(a.dtype),
                a.bitcast(other) + 1,
                a // self.rng.choice((1, 3, 10, 1_000_003, 5_000_000_000)),
            )[int(op)]
        b = self.one(depth - 1).cast(a.dtype)
        table: dict[str, Callable[[], Tensor]] = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b,
            "%": lambda: a % b, "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
            "<": lambda: (a < b).cast(a.dtype), "=": lambda: (a == b).cast(a.dtype),
            "l": lambda: a << (b & 63), "r": lambda: a >> (b & 63),
            "w": lambda: (a < b).where(a, b), "m": lambda: a.maximum(b),
        }  # fmt: skip
        return table[op]()


def test_expressions_agree_with_the_cpu(seed: int) -> None:
    found, wanted = (Expressions(seed).on(device, EACH) for device in ("WEBGPU", "CPU"))
    for at, (a, b) in enumerate(zip(found, wanted, strict=True)):
        np.testing.assert_array_equal(a, b, f"seed {seed}, expression {at}")
