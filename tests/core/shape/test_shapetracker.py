"""ShapeTracker against NumPy: movement chains, simplify, invert, strides and masks by axis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ShapeError
from core.shape import ShapeTracker, View
from tests.core.shape.movements import RANDOMS, Elements, chains, draw_step, elements

Chain = tuple[ShapeTracker, Elements]


@settings(max_examples=600, deadline=None)
@given(chains())
def test_chains_address_the_elements_that_numpy_does(chain: Chain) -> None:
    tracker, model = chain
    assert tracker.shape == model.shape and tracker.size == model.size
    assert (elements(tracker) == model).all()
    assert tracker.real_size > model.max(initial=-1)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_simplify_keeps_the_meaning(data: st.DataObject) -> None:
    raw, last = [], ShapeTracker.from_shape((4, 3, 2))
    model = np.arange(24).reshape(4, 3, 2)
    for _ in range(4):
        raw.extend(last.views)
        last = ShapeTracker.from_shape(last.shape)
        last, model = draw_step(data.draw(RANDOMS), last, model)
    long = ShapeTracker((*raw, *last.views))
    short = long.simplify()
    assert len(short.views) <= len(long.views)
    assert (elements(long) == model).all()
    assert (elements(short) == model).all()
    assert short.simplify() is short


@settings(max_examples=200, deadline=None)
@given(chains())
def test_index_is_one_entry_of_indices(chain: Chain) -> None:
    tracker, _ = chain
    offsets, valid = tracker.indices()
    for at in list(product(*(range(size) for size in tracker.shape)))[:40]:
        assert tracker.index(at) == (offsets[at], valid[at])


@settings(max_examples=300, deadline=None)
@given(chains())
def test_real_strides_are_the_differences_of_elements(chain: Chain) -> None:
    tracker, model = chain
    for axis, stride in enumerate(tracker.real_strides()):
        if stride is None or model.size == 0:
            continue
        valid = model >= 0
        near, far = np.moveaxis(model, axis, 0)[:-1], np.moveaxis(model, axis, 0)[1:]
        both = np.moveaxis(valid, axis, 0)[:-1] & np.moveaxis(valid, axis, 0)[1:]
        assert (far[both] - near[both] == stride).all()


@settings(max_examples=300, deadline=None)
@given(chains())
def test_unmasked_axes_do_not_decide_validity(chain: Chain) -> None:
    tracker, model = chain
    for axis, size in enumerate(tracker.shape):
        if not tracker.axis_is_masked(axis) and size:
            valid = np.moveaxis(model >= 0, axis, 0)
            assert (valid == valid[0]).all()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_inverse_gives_the_memory_back(data: st.DataObject) -> None:
    tracker, model = data.draw(chains(shape=(4, 3, 2)))
    inverse = tracker.invert((4, 3, 2))
    if inverse is not None:
        assert inverse.shape == (4, 3, 2)
        assert (model.reshape(-1)[elements(inverse)] == np.arange(24).reshape(4, 3, 2)).all()


@settings(max_examples=300, deadline=None)
@given(chains())
def test_once_means_that_no_element_is_read_twice(chain: Chain) -> None:
    tracker, model = chain
    read = model[model >= 0]
    if tracker.once:
        assert len(np.unique(read)) == read.size


def test_once() -> None:
    whole = ShapeTracker.from_shape((4, 6))
    assert whole.permute((1, 0)).flip((True, False)).pad(((1, 0), (0, 2))).once
    assert whole.shrink(((1, 3), (0, 6))).reshape((3, 4)).permute((1, 0)).once
    assert not ShapeTracker.from_shape((4, 1)).expand((4, 3)).once
    assert ShapeTracker.from_shape((1, 1)).expand((1, 3)).shrink(((0, 1), (0, 1))).once


def test_inverse_of_permute_flip_pad_and_reshape() -> None:
    tracker = ShapeTracker.from_shape((4, 6)).permute((1, 0)).flip((True, False))
    tracker = tracker.pad(((1, 0), (0, 2))).reshape((7, 2, 3))
    inverse = tracker.invert((4, 6))
    assert inverse is not None and (tracker + inverse).contiguous
    assert ShapeTracker.from_shape((4, 1)).expand((4, 3)).invert((4, 1)) is None
    assert ShapeTracker.from_shape((4, 6)).shrink(((0, 2), (0, 6))).invert((4, 6)) is None


def test_strides_through_two_views() -> None:
    columns = ShapeTracker.from_shape((4, 6)).permute((1, 0)).reshape((24,)).reshape((3, 8))
    assert len(columns.views) == 2
    assert columns.real_strides() == (2, None)
    assert ShapeTracker.from_shape((4, 6)).real_strides() == (6, 1)
    assert ShapeTracker.from_shape((4, 6)).permute((1, 0)).real_strides() == (1, 6)


@pytest.mark.parametrize(
    ("tracker", "strides"),
    [
        # the lowest digit does not carry, whatever the axis above it does
        (ShapeTracker.from_shape((2, 2, 3)).permute((2, 1, 0)).reshape((6, 2)), (None, 6)),
        # it does not wrap, either
        (ShapeTracker.from_shape((2, 5, 2)).permute((2, 0, 1)).reshape((4, 5)), (None, 2)),
        # axes below that are one in memory are one digit
        (ShapeTracker.from_shape((2, 5, 4)).flip((True, True, False)).reshape((20, 2)), (None, 1)),
        (ShapeTracker.from_shape((6, 4)).permute((1, 0)).reshape((2, 2, 2, 3)), (2, 1, 12, 4)),
        (ShapeTracker.from_shape((4, 6)).permute((1, 0)).reshape((3, 8)), (2, None)),
    ],
)
def test_strides_of_axes_that_carry_nowhere(
    tracker: ShapeTracker, strides: tuple[int | None, ...]
) -> None:
    assert tracker.real_strides() == strides


def test_masked_axes() -> None:
    padded = ShapeTracker.from_shape((4, 6)).pad(((0, 0), (1, 1)))
    assert [padded.axis_is_masked(k) for k in (0, 1)] == [False, True]
    flat = padded.reshape((2, 16))
    assert len(flat.views) == 2
    assert [flat.axis_is_masked(k) for k in (0, 1)] == [False, True]
    assert flat.masked and not ShapeTracker.from_shape((4,)).masked


def test_contiguous_and_consecutive() -> None:
    whole = ShapeTracker.from_shape((4, 6))
    rows = whole.shrink(((1, 3), (0, 6)))
    assert whole.contiguous and whole.consecutive
    assert rows.consecutive and not rows.contiguous
    assert not whole.permute((1, 0)).consecutive
    assert not whole.pad(((1, 0), (0, 0))).consecutive
    assert ShapeTracker.from_shape((4, 6), (1, 4)) == ShapeTracker.from_shape((6, 4)).permute(
        (1, 0)
    )


def test_movements_that_undo_each_other_leave_nothing() -> None:
    tracker = ShapeTracker.from_shape((4, 6)).permute((1, 0)).reshape((3, 8))
    assert len(tracker.views) == 2
    assert tracker.reshape((6, 4)).permute((1, 0)).contiguous


def test_steps_go_from_the_index_to_memory() -> None:
    tracker = ShapeTracker.from_shape((4, 6)).permute((1, 0)).reshape((3, 8))
    first, second = tracker.steps()
    assert (first.shape, second.shape) == ((3, 8), (6, 4))
    assert first == View.create((3, 8))


def test_errors() -> None:
    tracker = ShapeTracker.from_shape((4, 6))
    for wrong in [(4, 0), (0,), (0, -1)]:
        with pytest.raises(ShapeError, match="outside"):
            tracker.index(wrong)
    with pytest.raises(ShapeError, match="cannot read"):
        _ = ShapeTracker.from_shape((4,)) + tracker
