"""What a kernel computed, held against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.runtime.reference.kernel import evaluate_kernel
from core.uop import UOp
from core.uop.kernelinfo import KernelInfo
from tests.core.passes.kernels import plain, store
from viz.whatif.results.outcome import Expected

KERNEL = UOp.sink(store(plain(1, (4, 8)) * 2.0), arg=KernelInfo())


def test_a_kernel_that_overwrites_an_input() -> None:
    def right(held: list[Any], variables: Mapping[str, int]) -> None:
        evaluate_kernel(KERNEL, held, variables)

    def wrong(held: list[Any], variables: Mapping[str, int]) -> None:
        right(held, variables)
        held[1][5] += 1.0

    assert Expected(KERNEL).judge(right).equal
    found = Expected(KERNEL).judge(wrong)
    assert (found.equal, found.output, found.index, found.error > 0.5) == (False, 1, 5, True)


def test_nans_of_other_bits_are_no_distance_apart() -> None:
    expected = Expected(KERNEL)
    expected.results[0][3] = np.nan
    got = [held.copy() for held in expected.results]
    got[0][3] = -got[0][3]
    assert got[0].tobytes() != expected.results[0].tobytes()
    found = expected.compare(got)
    assert (found.equal, found.error, found.ulps) == (True, 0.0, 0)
