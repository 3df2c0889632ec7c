"""View: canonical form, each movement, and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from core.errors import ShapeError
from core.shape import ShapeTracker, View
from tests.core.shape.movements import elements


def test_size_one_axes_have_stride_zero() -> None:
    assert View.create((2, 1, 3), (3, 99, 1)).strides == (3, 0, 1)
    assert View.create((2, 1, 3), (3, 99, 1)) is View.create((2, 1, 3))


def test_full_mask_is_none() -> None:
    assert View.create((2, 3), mask=[(0, 2), (0, 3)]) == View.create((2, 3))


def test_empty_mask_forgets_where_it_was() -> None:
    first = View.create((2, 3), (3, 1), 5, [(1, 1), (0, 3)])
    assert first == View.create((2, 3), (1, 7), 0, [(0, 2), (2, 2)])
    assert (first.strides, first.offset, first.mask) == ((0, 0), 0, ((0, 0), (0, 0)))
    assert first.empty and first.real_size == 0


def test_single_valid_index_needs_no_stride() -> None:
    view = View.create((4, 3), (3, 1), 0, [(2, 3), (0, 3)])
    assert (view.strides, view.offset) == ((0, 1), 6)


def test_zero_size_and_rank_zero() -> None:
    assert View.create((0, 3), (5, 5), 7) == View.create((0, 3))
    assert View.create((0, 3)).contiguous and View.create((0, 3)).size == 0
    assert View.create(()).contiguous and View.create(()).size == 1
    assert View.create(()).real_size == 1


def test_real_size_counts_the_largest_valid_element() -> None:
    assert View.create((4, 3), (1, 4)).real_size == 12
    assert View.create((4, 3), (3, 1), 0, [(0, 2), (0, 2)]).real_size == 5
    assert View.create((4,), (-1,), 3).real_size == 4


def test_hash_survives_pickling() -> None:
    view = View.create((4, 3)).pad(((1, 1), (0, 0)))
    again = pickle.loads(pickle.dumps(view))
    assert again == view and hash(again) == hash(view)
    assert pickle.loads(pickle.dumps(ShapeTracker((view,)))) == ShapeTracker((view,))


@pytest.mark.parametrize(
    ("view", "shape", "strides"),
    [
        (View.create((4, 6), (12, 1)), (2, 2, 6), (24, 12, 1)),
        (View.create((4, 6), (12, 1)), (2, 2, 1, 3, 2), (24, 12, 0, 2, 1)),
        (View.create((2, 3, 4), (0, 4, 1)), (2, 12), (0, 1)),
        (View.create((2, 3, 4), (0, 0, 0)), (24,), (0,)),
        (View.create((6, 4), (-4, -1), 23), (24,), (-1,)),
        (View.create((1, 6), (0, 5)), (3, 1, 2), (10, 0, 5)),
    ],
)
def test_reshape_stays_one_view(
    view: View, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    reshaped = view.reshape(shape)
    assert reshaped is not None and reshaped.strides == strides


@pytest.mark.parametrize(
    ("view", "shape"),
    [
        (View.create((4, 6), (12, 1)), (8, 3)),
        (View.create((4, 6), (1, 4)), (24,)),
        (View.create((4, 4)).pad(((0, 0), (1, 1))), (24,)),
        (View.create((5,)).pad(((1, 0),)).reshape((6,)), (2, 3)),
    ],
)
def test_reshape_that_needs_two_views(view: View, shape: tuple[int, ...]) -> None:
    assert view.reshape(shape) is None
    two = ShapeTracker((view,)).reshape(shape)
    assert len(two.views) == 2
    assert (elements(two) == elements(ShapeTracker((view,))).reshape(shape)).all()


@pytest.mark.parametrize(
    ("view", "shape", "mask"),
    [
        (View.create((4, 6)).pad(((1, 1), (0, 0))), (36,), ((6, 30),)),
        (View.create((4, 6)).pad(((2, 2), (0, 0))), (2, 4, 6), None),
        (View.create((1, 4)).pad(((1, 1), (1, 1))), (18,), ((7, 11),)),
        (View.create((6,)).pad(((3, 3),)), (4, 3), ((1, 3), (0, 3))),
        (View.create((2,)).pad(((4, 6),)), (3, 4), ((1, 2), (0, 2))),
    ],
)
def test_reshape_of_padded(
    view: View, shape: tuple[int, ...], mask: tuple[tuple[int, int], ...] | None
) -> None:
    reshaped = view.reshape(shape)
    if mask is None:
        assert reshaped is None
    else:
        assert reshaped is not None and reshaped.mask == mask
        want = elements(ShapeTracker((view,))).reshape(shape)
        assert (elements(ShapeTracker((reshaped,))) == want).all()


def test_movements_give_the_expected_parts() -> None:
    view = View.create((4, 6))
    assert view.permute((1, 0)).strides == (1, 6)
    assert view.flip((False, True)) == View.create((4, 6), (6, -1), 5)
    assert view.shrink(((1, 3), (2, 6))) == View.create((2, 4), (6, 1), 8)
    padded = view.pad(((0, 0), (1, 2)))
    assert padded == View.create((4, 9), (6, 1), -1, [(0, 4), (1, 7)])
    assert padded.shrink(((0, 4), (1, 7))) == view
    assert View.create((4, 1)).expand((4, 3)) == View.create((4, 3), (1, 0))
    assert view.shrink(((0, 0), (0, 6))).pad(((1, 0), (0, 0))).empty


def test_errors_say_what_and_how() -> None:
    view = View.create((4, 6))
    attempts = [
        lambda: view.permute((0, 0)),
        lambda: view.expand((4, 7)),
        lambda: view.expand((4,)),
        lambda: view.reshape((5, 5)),
        lambda: view.reshape((-4, -6)),
        lambda: view.shrink(((0, 5), (0, 6))),
        lambda: view.pad(((0, -1), (0, 0))),
        lambda: view.flip((True,)),
        lambda: View.create((2, -1)),
        lambda: View.create((2,), (1, 1)),
        lambda: View.create((2,), (1,), 0, [(0, 3)]),
        lambda: View.create((2,)) + view,
    ]
    for attempt in attempts:
        with pytest.raises(ShapeError) as caught:
            attempt()
        assert caught.value.hint


def test_reshape_to_rank_zero_of_nothing_valid() -> None:
    nothing = View.create((1,)).shrink(((0, 0),)).pad(((0, 1),))
    assert nothing.reshape(()) is None
    assert not ShapeTracker((nothing,)).reshape(()).indices()[1]
    assert ShapeTracker((nothing,)).reshape(()).index(()) == (0, False)
    assert np.ndim(ShapeTracker((nothing,)).reshape(()).indices()[0]) == 0
