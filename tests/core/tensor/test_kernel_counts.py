"""How many kernels known programs become; docs/passes.md has the table with the reasons."""

from __future__ import annotations

import numpy as np
import pytest

import core
from core import Tensor
from core.helpers import Context
from tests.bench.counted import PROGRAMS, Counted


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_kernels_of(program: Counted) -> None:
    with Context(**program.flags):
        first, *others = program.make(core)
        assert len(first.schedule(*others)) == program.kernels


def test_a_barrier_that_is_pushed() -> None:
    """`contiguous()` ends a kernel, and with the flag arithmetic on it does not wait for it."""
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    for flag, kernels in ((0, 2), (1, 1)):
        with Context(PUSH_CONTIGUOUS=flag):
            y = Tensor(numbers).realize().T.contiguous() + 1
            assert len(y.schedule()) == kernels
            z = (Tensor(numbers).realize().T.contiguous() + 1).numpy()
        np.testing.assert_array_equal(z, numbers.T + 1)
