"""What kernels are run on to be judged: nothing on which a right kernel may give something else."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import dtypes
from core.tensor import Tensor
from core.uop.uop import UOp
from viz.whatif.results.arguments import givens

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


def sets_of(values: Tensor) -> list[tuple[bool, list[np.ndarray]]]:
    ast: UOp = values.schedule()[-1].ast
    return [(given.precise, given.memory(ast, 1 << 30)) for given in givens(ast)]


def test_each_special_number_meets_each_other_one() -> None:
    x, y = Tensor.empty(3), Tensor.empty(3)
    met = {
        (str(a), str(b))
        for precise, (_, first, second) in sets_of(x - y)
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
        if precise  # one difference has one result, with the sign of its zero
    }
    special = ("0.0", "-0.0", "nan", "inf", "-inf")
    assert {(a, b) for a in special for b in special} <= met


def test_sums_of_products_are_not_compared_bit_by_bit() -> None:
    x, y = Tensor.empty(3), Tensor.empty(3)
    for values in (x * y + x, x + y + x, (x - y) * 2 - x):
        assert not any(precise for precise, _ in sets_of(values))


def test_quotients_are_tried_where_they_are_first_wrong() -> None:
    x = Tensor.empty(5, dtype=dtypes.int32)
    tried = {n for _, (_, held) in sets_of(x // 7) for n in held.tolist()}
    last = 2**31 // 7 * 7
    assert {last - 1, last, 6, 8} <= tried
