"""Indexing, gather, scatter and their gradients against PyTorch and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from tests.conformance.comparing import Operation, check, same, shapes, values


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...], negative_steps: bool) -> tuple[Any, ...]:
    """Integers, slices, None and one ... that fit `shape`."""
    key: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.none() | st.integers(-n - 2, n + 2)
        steps = [None, 1, 2, 3, -1, -2] if negative_steps else [None, 1, 2, 3]
        step = draw(st.sampled_from(steps))
        key.append(draw(st.integers(-n, n - 1) | st.builds(slice, bound, bound, st.just(step))))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    if draw(st.booleans()):
        tail = draw(st.integers(0, len(key)))
        named = [k for k in key if k is not None]
        if len(named) == len(shape) or tail == len(key):
            key.insert(tail, ...)
    return tuple(key)


@given(data=st.data())
def test_basic(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    key = data.draw(basic_keys(shape, negative_steps=True))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(Tensor(array)[key].numpy(), array[key])


@given(data=st.data())
def test_basic_gradient(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    key = data.draw(basic_keys(shape, negative_steps=False))
    op = Operation("getitem", lambda x: x[key], lambda x: x[key])
    check(op, [data.draw(values(shape, "d", op))])


@given(data=st.data())
def test_setitem(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    key = data.draw(basic_keys(shape, negative_steps=True))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    tensor = Tensor(array)
    before = tensor + 0
    value = -np.arange(array[key].size, dtype=np.float32).reshape(array[key].shape) - 1
    tensor[key] = Tensor(value) if data.draw(st.booleans()) else 7
    changed = array.copy()
    changed[key] = value if tensor.numpy().min() < 0 else 7
    np.testing.assert_array_equal(tensor.numpy(), changed)
    np.testing.assert_array_equal(before.numpy(), array)


@given(data=st.data())
def test_one_index_tensor(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(0, len(shape) - 1))
    picks = data.draw(shapes(most_axes=2))
    pick = Operation("pick", lambda x: x, lambda x: x, low=-shape[axis], high=shape[axis] - 1)
    index = data.draw(values(picks, data.draw(st.sampled_from("il")), pick))
    key = (slice(None),) * axis + (index,)
    mine = (slice(None),) * axis + (Tensor(index),)
    theirs = (slice(None),) * axis + (torch.from_numpy(index).long(),)
    op = Operation("index", lambda x: x[mine], lambda x: x[theirs])
    x = data.draw(values(shape, data.draw(st.sampled_from("fdil?")), op))
    np.testing.assert_array_equal(Tensor(x)[mine].numpy(), x[key])
    check(op, [x])


@given(data=st.data())
def test_several_index_tensors(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=2, most_axes=4, longest=4))
    axes = sorted(data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=2)))
    picks = data.draw(shapes(most_axes=2, longest=3))
    key: list[Any] = [slice(None, None, data.draw(st.sampled_from([1, 2]))) for _ in shape]
    for axis in axes:
        n = shape[axis]
        pick = Operation("pick", lambda x: x, lambda x: x, low=-n, high=n - 1)
        key[axis] = data.draw(values(picks, "l", pick))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    mine = tuple(Tensor(k) if isinstance(k, np.ndarray) else k for k in key)
    np.testing.assert_array_equal(Tensor(array)[mine].numpy(), array[tuple(key)])


@given(data=st.data())
def test_masks(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    op = Operation("mask", lambda x: x, lambda x: x)
    x, mask = data.draw(values(shape, "f", op)), data.draw(values(shape, "?", op))
    tx, tm = torch.from_numpy(x), torch.from_numpy(mask)
    same(Tensor(x)[Tensor(mask)], tx[tm])
    same(Tensor(x).masked_select(Tensor(mask)), tx.masked_select(tm))
    same(Tensor(mask).nonzero(), tm.nonzero())
    changed = Tensor(x)
    changed[Tensor(mask)] = 3.0
    same(changed, tx.masked_fill(tm, 3.0))


@st.composite
def axis_index(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    """(array, axis, index) with an index that fits gather and scatter."""
    shape = draw(shapes(least_axes=1))
    axis = draw(st.integers(0, len(shape) - 1))
    index_shape = [draw(st.integers(1, 5 if i == axis else n)) for i, n in enumerate(shape)]
    pick = Operation("pick", lambda x: x, lambda x: x, low=0, high=shape[axis] - 1)
    return (
        draw(values(shape, "d", Operation("x", *[lambda x: x] * 2))),
        axis,
        draw(values(index_shape, "l", pick)),
    )


@given(case=axis_index())
def test_gather(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    x, axis, index = case
    mine, theirs = Tensor(index), torch.from_numpy(index)
    check(
        Operation("gather", lambda t: t.gather(axis, mine), lambda t: t.gather(axis, theirs)), [x]
    )


@given(case=axis_index())
def test_scatter(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    x, axis, index = case
    src = np.linspace(-2, 3, index.size).reshape(index.shape).astype(x.dtype)
    start, places, added = (torch.from_numpy(a) for a in (x, index, src))
    same(
        Tensor(x).scatter(axis, Tensor(index), Tensor(src), "add"),
        start.scatter_add(axis, places, added),
    )
    same(
        Tensor(x).scatter(axis, Tensor(index), Tensor(src), "multiply"),
        start.scatter_reduce(axis, places, added, "prod"),
    )


@given(case=axis_index())
def test_scatter_takes_the_last(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    x, axis, index = case
    src = np.linspace(-2, 3, index.size).reshape(index.shape).astype(x.dtype)
    want = x.copy()
    for place in np.ndindex(index.shape):
        target = list(place)
        target[axis] = index[place]
        want[tuple(target)] = src[place]
    have = Tensor(x).scatter(axis, Tensor(index), Tensor(src))
    np.testing.assert_array_equal(have.numpy(), want)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@given(case=axis_index())
def test_scatter_reduce(
    reduce: str, include_self: bool, case: tuple[np.ndarray, int, np.ndarray]
) -> None:
    x, axis, index = case
    src = np.linspace(-2, 3, index.size).reshape(index.shape).astype(x.dtype)
    want = torch.from_numpy(x).scatter_reduce(
        axis, torch.from_numpy(index), torch.from_numpy(src), reduce, include_self=include_self
    )
    same(Tensor(x).scatter_reduce(axis, Tensor(index), Tensor(src), reduce, include_self), want)


@given(data=st.data())
def test_one_hot(data: st.DataObject) -> None:
    op = Operation("x", lambda x: x, lambda x: x, low=0, high=5)
    x = data.draw(values(data.draw(shapes(most_axes=2)), "l", op))
    same(Tensor(x).one_hot(6), torch.nn.functional.one_hot(torch.from_numpy(x), 6))
    same(Tensor(x).one_hot(), torch.nn.functional.one_hot(torch.from_numpy(x)))
