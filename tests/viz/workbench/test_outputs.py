"""Two results element by element: errors, units in the last place, and the picture of the error."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.dtype import dtypes
from core.uop.uop import UOp
from viz.workbench.outputs import (
    MOST_CELLS,
    SIDE,
    difference_of,
    errors,
    picture,
    rows_and_columns,
)

F = dtypes.float32


def stored(*shape: int) -> UOp:
    """A kernel with an output of this shape."""
    return (Tensor.empty(*shape) + 1).schedule()[-1].ast


def drawn(ast: UOp, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> dict[str, Any]:
    made = picture(ast, 0, F, a, b, errors(a, b, F))
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    return made


def test_errors_of_numbers_and_of_what_is_none() -> None:
    inf, nan = math.inf, math.nan
    a = np.array([1, 1, inf, inf, nan, nan, 0.0], np.float32)
    b = np.array([1, 3, inf, -inf, nan, 1, -0.0], np.float32)
    # zeros of both signs are equal, and not identical
    assert errors(a, b, F).tolist() == [0, 2, 0, inf, 0, inf, 0]
    found = difference_of(stored(7), 0, F, a, b, errors(a, b, F))
    assert (found.compared, found.identical, found.error, found.ulps) == (7, 3, inf, None)
    assert found.at == (3,)
    assert found.data()["original"] == "inf"


def test_units_in_the_last_place() -> None:
    a = np.array([1.0, -2.0, 3.0], np.float32)
    b = a.copy()
    b[1] = np.nextafter(np.nextafter(b[1], np.float32(0)), np.float32(0))
    found = difference_of(stored(3), 0, F, a, b, errors(a, b, F))
    assert (found.ulps, found.identical, found.at) == (2, 2, (1,))
    assert (found.original, found.edited) == (-2.0, float(b[1]))
    ints = np.arange(3, dtype=np.int32)
    more = ints + np.array([0, 0, 5], np.int32)
    apart = errors(ints, more, dtypes.int32)
    assert difference_of(stored(3), 0, dtypes.int32, ints, more, apart).ulps is None


def test_large_integers_that_differ_are_not_equal() -> None:
    ints = np.array([1 << 60, 7], np.int64)
    more = ints + np.array([1, 0])
    assert errors(ints, more, dtypes.int64).tolist() == [1, 0]
    assert errors(ints, ints, dtypes.int64).tolist() == [0, 0]


def test_a_small_output_is_drawn_element_by_element() -> None:
    a = np.zeros(6, np.float32)
    b = a.copy()
    b[4] = 2
    b[1] = 1
    made = drawn(stored(2, 3), a, b)
    assert (made["rows"], made["columns"], made["height"], made["width"]) == (2, 3, 2, 3)
    assert (made["cell"], made["at"], made["error"]) == ([4, 1], [4, 1], [2, 1])
    assert (made["original"], made["edited"], made["more"]) == ([0, 0], [2, 1], 0)


def test_a_large_output_is_drawn_by_the_largest_of_a_cell() -> None:
    rows, columns = 700, 1000
    a = np.zeros(rows * columns, np.float32)
    b = a.copy()
    b[699 * columns + 999] = 1
    b[699 * columns + 998] = 3
    b[5] = math.inf
    made = drawn(stored(rows, columns), a, b)
    assert (made["down"], made["across"]) == (3, 4)
    assert max(made["height"], made["width"]) <= SIDE
    assert made["at"] == [5, 699 * columns + 998]
    assert made["error"] == ["inf", 3]
    assert made["cell"] == [1, made["height"] * made["width"] - 1]


def test_a_picture_is_bounded() -> None:
    a = np.zeros(600 * 600, np.float32)
    made = drawn(stored(600, 600), a, a + 1)
    assert len(made["cell"]) == MOST_CELLS
    assert made["more"] == made["height"] * made["width"] - MOST_CELLS


@pytest.mark.parametrize(
    ("shape", "table"),
    [((5,), (1, 5)), ((4, 6), (4, 6)), ((2, 3, 4), (6, 4)), ((1000,), (32, 32))],
)
def test_an_output_as_a_table(shape: tuple[int, ...], table: tuple[int, int]) -> None:
    assert rows_and_columns(stored(*shape), 0, math.prod(shape)) == table
    a = np.zeros(math.prod(shape), np.float32)
    b = a.copy()
    b[-1] = 1
    assert drawn(stored(*shape), a, b)["at"] == [len(a) - 1]
