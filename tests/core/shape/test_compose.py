"""`inner + outer`: merged exactly, and merged where it should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.shape import ShapeTracker, View
from tests.core.shape.movements import chains, elements, views


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_merge_of_any_two_views_is_exact(data: st.DataObject) -> None:
    inner = data.draw(views(10_000))
    outer = data.draw(views(inner.size))
    merged = inner + outer
    if merged is not None:
        assert (elements(ShapeTracker((merged,))) == elements(ShapeTracker((inner, outer)))).all()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_composed_trackers_read_through_each_other(data: st.DataObject) -> None:
    inner, inner_model = data.draw(chains())
    outer, outer_model = data.draw(chains(shape=inner.shape))
    both = inner + outer
    assert both.shape == outer.shape
    flat = inner_model.reshape(-1)
    want = np.array(outer_model)
    want[outer_model >= 0] = flat[outer_model[outer_model >= 0]]
    assert (elements(both) == want).all()


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        # a permuted reshape of rows that do not merge
        (View.create((4, 6), (12, 1)), View.create((2, 2, 6)).permute((2, 0, 1))),
        # a window inside one row
        (View.create((4, 6), (1, 4)), View.create((24,)).shrink(((7, 11),))),
        # the diagonal and the other diagonal
        (View.create((6, 6), (1, 6)), View.create((6,), (7,))),
        (View.create((6, 6), (1, 6)), View.create((6,), (5,), 5)),
        # padding, seen flat, then cut off again
        (
            View.create((4, 6)).pad(((1, 1), (0, 0))),
            View.create((36,)).shrink(((6, 30),)),
        ),
        # padding that stays, merged with a flip
        (
            View.create((4, 6)).pad(((1, 1), (2, 0))),
            View.create((6, 8)).flip((True, True)),
        ),
        # the middle of one row, seen flat
        (
            View.create((6, 6), (1, 6)).shrink(((1, 2), (0, 6))).pad(((1, 1), (1, 1))),
            View.create((24,)),
        ),
        # two masks on one axis
        (
            View.create((6,)).pad(((2, 2),)),
            View.create((10,)).shrink(((1, 9),)).pad(((3, 3),)),
        ),
        # nothing left
        (View.create((6,)).pad(((0, 6),)), View.create((12,)).shrink(((6, 12),))),
        # every second element of padded data
        (View.create((6,)).pad(((3, 3),)), View.create((6,), (2,))),
        # a row index made of two outer axes that the mask cuts at the boundary of one of them
        (View.create((4, 3)).pad(((2, 2), (0, 0))), View.create((4, 2, 3))),
    ],
)
def test_these_merge(inner: View, outer: View) -> None:
    merged = inner + outer
    assert merged is not None
    assert (elements(ShapeTracker((merged,))) == elements(ShapeTracker((inner, outer)))).all()


def test_no_merge_where_rows_break() -> None:
    assert View.create((4, 6), (1, 4)) + View.create((24,)) is None
    assert View.create((4, 4)).pad(((0, 0), (1, 1))) + View.create((24,)) is None
