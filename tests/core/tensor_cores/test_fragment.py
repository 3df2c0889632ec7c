"""Fragments as data: coordinates, and what is no layout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import DTypeError
from core.target import targets
from core.tensor_cores import Fragment, TensorCore, fragment

A = fragment("k1 k2 m0 m1 m2", "k0 m3 k3")
CORE = targets["sm_80"].tensor_cores[0]


def test_the_example_of_the_docstring() -> None:
    assert A.coordinate("m", 5, 6) == 1 + 8
    assert A.coordinate("k", 5, 6) == 2 + 8
    assert (A.threads, A.count, A.letters) == (32, 8, ("m", "k"))
    assert (A.size("m"), A.size("k"), A.size("n")) == (16, 16, 1)


def test_coordinates_of_arrays_are_those_of_ints() -> None:
    lanes, positions = np.arange(32)[:, None], np.arange(8)[None, :]
    rows = A.coordinate("m", lanes, positions)
    assert rows.shape == (32, 8)
    assert all(rows[i, j] == A.coordinate("m", i, j) for i in range(32) for j in range(8))


@pytest.mark.parametrize("bad", ["k0 k0", "x1", "k", "k10", "-1"])
def test_what_is_no_layout_is_refused(bad: str) -> None:
    with pytest.raises(DTypeError, match="layout"):
        fragment(bad, "m0")


def test_a_position_always_says_something() -> None:
    with pytest.raises(DTypeError, match="layout"):
        Fragment(("m0",), ("-",))


def test_a_coordinate_that_the_matrix_does_not_have() -> None:
    with pytest.raises(DTypeError, match="no coordinate 'n'"):
        A.coordinate("n", 0, 0)


def test_fragments_that_do_not_fit_their_instruction() -> None:
    with pytest.raises(DTypeError, match="does not hold"):
        replace(CORE, k=32)
    with pytest.raises(DTypeError, match="does not hold"):
        replace(CORE, a=CORE.b)
    with pytest.raises(DTypeError, match="does not hold"):
        replace(CORE, m=17)
    with pytest.raises(DTypeError, match="two lanes"):
        TensorCore(
            "twice", 2, 2, 2, dtypes.float16, dtypes.float32,
            fragment("m0 -", "k0"), fragment("n0 -", "k0"), fragment("n0 -", "m0"),
        )  # fmt: skip
    with pytest.raises(DTypeError, match="elements are"):
        replace(CORE, dtype_in=dtypes.float16.vec(2))
    with pytest.raises(DTypeError, match="elements are"):
        replace(CORE, dtype_out=dtypes.void)


def test_names_are_unique_and_the_first_of_each_dtype_is_the_largest() -> None:
    for target in targets.values():
        names = [core.name for core in target.tensor_cores]
        assert len(set(names)) == len(names)
        kinds = [(core.dtype_in, core.dtype_out, core.exact) for core in target.tensor_cores]
        for core in target.tensor_cores:
            first = target.tensor_cores[kinds.index((core.dtype_in, core.dtype_out, core.exact))]
            assert first.k >= core.k or core.m > first.m
