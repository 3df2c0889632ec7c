"""Bools stay bools where elements are picked and none is added to another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core import Tensor, dtypes


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda m: m[Tensor([1, 0])], [[True, True], [True, False]]),
        (lambda m: m[Tensor([1, 0]), Tensor([0, 1])], [True, False]),
        (lambda m: m.gather(1, Tensor([[1], [0]])), [[False], [True]]),
        (lambda m: m.tril(), [[True, False], [True, True]]),
        (lambda m: m.triu(), [[True, False], [False, True]]),
        (lambda m: m[0].diag(), [[True, False], [False, False]]),
        (lambda m: m[:, 0], [True, True]),
    ],
    ids=["rows", "elements", "gather", "tril", "triu", "diag", "slice"],
)
def test_picking(make: Callable[[Tensor], Tensor], expected: list[object]) -> None:
    made = make(Tensor([[True, False], [True, True]]))
    assert made.dtype is dtypes.bool
    assert made.tolist() == expected
