"""Sums that pick one element are computed where they are used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core import Context, Tensor
from core.passes.schedule.pipeline import run_passes
from core.passes.schedule.simplify.picks import picks
from core.uop import Ops, UOp

ROWS, COLUMNS = 4, 5
PLACES = [1, 4, 0, 9]
"""One column for each row; the last does not exist."""


def places() -> Tensor:
    return Tensor(PLACES, dtype="int32").realize().reshape(ROWS, 1)


def numbers() -> Tensor:
    return Tensor(np.arange(1.0, 21.0, dtype=np.float32).reshape(ROWS, COLUMNS)).realize()


def picked(x: Tensor) -> Tensor:
    """x[row, PLACES[row]], or 0, as a sum over columns."""
    at = Tensor.arange(COLUMNS).cast("int32") == places()
    return at.where(x, 0).sum(1, keepdim=True)


def sums(t: Tensor) -> list[UOp]:
    """The reduces before grouping."""
    graph = run_passes(UOp.sink(t.uop), stop="views")
    return [u for u in graph.toposort() if u.op is Ops.REDUCE_AXIS]


CASES: dict[str, tuple[Callable[[Tensor], Tensor], bool]] = {
    "a place": (picked, True),
    "a place, and more": (
        lambda x: ((Tensor.arange(COLUMNS) == places()) & (places() > 0)).where(x, 0).sum(1),
        True,
    ),
    "the other way round": (
        lambda x: (places() == Tensor.arange(COLUMNS)).where(x, 0).sum(1),
        True,
    ),
    "several places": (lambda x: (Tensor.arange(COLUMNS) < places()).where(x, 0).sum(1), False),
    "counted backwards": (
        lambda x: (4 - Tensor.arange(COLUMNS) == places()).where(x, 0).sum(1),
        False,
    ),
    "a place that varies": (
        lambda x: (Tensor.arange(COLUMNS) == x.cast("int32")).where(x, 0).sum(1),
        False,
    ),
    "not 0 elsewhere": (lambda x: (Tensor.arange(COLUMNS) == places()).where(x, 1).sum(1), False),
    "the largest": (lambda x: (Tensor.arange(COLUMNS) == places()).where(x, 0).max(1), False),
    "two axes": (lambda x: (Tensor.arange(COLUMNS) == places()).where(x, 0).sum(), False),
    "all": (lambda x: x.sum(1), False),
}


@pytest.mark.parametrize("name", CASES)
def test_what_picks_one_element(name: str) -> None:
    make, one = CASES[name]
    (found,) = sums(make(numbers()))
    assert picks(found) is one


def test_it_is_computed_where_it_is_used() -> None:
    x = numbers()
    assert len((x - picked(x)).schedule()) == 1
    wanted = x.numpy()
    chosen = [wanted[i, k] if k < COLUMNS else 0 for i, k in enumerate(PLACES)]
    np.testing.assert_array_equal((x - picked(x)).numpy(), wanted - np.array(chosen)[:, None])


@pytest.mark.parametrize("opt", range(4))
def test_no_level_changes_values(opt: int) -> None:
    x = numbers()
    with Context(OPT=opt):
        found = (picked(x * 2) * x.sum(1, keepdim=True) + picked(x).exp2()).numpy()
    a = x.numpy()
    chosen = np.array([a[i, k] if k < COLUMNS else 0 for i, k in enumerate(PLACES)])[:, None]
    np.testing.assert_allclose(found, chosen * 2 * a.sum(1, keepdims=True) + 2.0**chosen)


def test_a_costly_one_that_is_read_often_is_stored() -> None:
    x = numbers()
    y = picked(x.exp().sin().exp().sin()).expand(ROWS, 64) + Tensor.arange(64)
    assert len(y.schedule()) == 2
