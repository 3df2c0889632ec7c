"""What kernels are run on to be judged: nothing on which a right kernel may give something else."""

from __future__ import annotations

import numpy as np
import pytest

from core.tensor import Tensor
from core.uop.uop import UOp
from viz.whatif.arguments import givens

X, Y = Tensor.empty(16, 15, 4), Tensor.empty(16, 15, 4)


def floats_of(values: Tensor) -> list[np.ndarray]:
    ast: UOp = values.schedule()[-1].ast
    return [
        np.abs(held[np.isfinite(held) & (held != 0)])
        for given in givens(ast)
        if given.said == "corner values" and not given.precise
        for held in given.memory(ast, 1 << 30)
    ]


@pytest.mark.parametrize(
    ("values", "divides"),
    [(X / Y, True), (Y.reciprocal(), True), (X * Y, False), (X + Y, False)],
)
def test_no_sum_overflows_in_one_order_alone(values: Tensor, divides: bool) -> None:
    """Its terms are a few times as large as 1: the gradient of a maximum over windows divides by
    what it counts, and a tiny count would make a huge term."""
    found = floats_of(values.sum(1))
    assert len(found) >= 2
    assert max(sizes.max() for sizes in found) <= 4.0
    smallest = min(sizes.min() for sizes in found)
    assert smallest >= 0.25 if divides else smallest < 1e-30
