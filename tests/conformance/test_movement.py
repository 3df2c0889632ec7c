"""Movement, joining and padding against PyTorch, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from tests.conformance.comparing import Operation, check, present, same, shapes, values

Draw = Callable[[st.SearchStrategy[Any]], Any]
Both = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def axis_of(draw: Draw, shape: tuple[int, ...], extra: int = 0) -> int:
    n = len(shape) + extra
    return draw(st.integers(-n, n - 1))


def permute(draw: Draw, shape: tuple[int, ...]) -> Both:
    order = draw(st.permutations(range(len(shape))))
    return lambda x: x.permute(*order), lambda x: x.permute(*order)


def transpose(draw: Draw, shape: tuple[int, ...]) -> Both:
    a, b = axis_of(draw, shape), axis_of(draw, shape)
    return lambda x: x.transpose(a, b), lambda x: x.transpose(a, b)


def reshape(draw: Draw, shape: tuple[int, ...]) -> Both:
    size = int(np.prod(shape))
    first = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    return lambda x: x.reshape(first, -1), lambda x: x.reshape(first, -1)


def flip(draw: Draw, shape: tuple[int, ...]) -> Both:
    axes = draw(st.lists(st.sampled_from(range(len(shape))), unique=True, min_size=1))
    return lambda x: x.flip(axes), lambda x: x.flip(axes)


def expand(draw: Draw, shape: tuple[int, ...]) -> Both:
    front = draw(st.integers(1, 3))
    return lambda x: x.expand(front, *shape), lambda x: x.expand(front, *shape)


def unsqueeze(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape, 1)
    return lambda x: x.unsqueeze(axis).squeeze(axis).unsqueeze(axis), lambda x: x.unsqueeze(axis)


def flatten(draw: Draw, shape: tuple[int, ...]) -> Both:
    a, b = sorted(axis_of(draw, shape) % len(shape) for _ in range(2))
    return lambda x: x.flatten(a, b), lambda x: x.flatten(a, b)


def repeat(draw: Draw, shape: tuple[int, ...]) -> Both:
    times = [draw(st.integers(1, 3)) for _ in range(len(shape) + draw(st.integers(0, 1)))]
    return lambda x: x.repeat(*times), lambda x: x.repeat(*times)


def repeat_interleave(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis, n = draw(st.none() | st.just(axis_of(draw, shape))), draw(st.integers(1, 3))
    return lambda x: x.repeat_interleave(n, axis), lambda x: x.repeat_interleave(n, axis)


def pad(draw: Draw, shape: tuple[int, ...]) -> Both:
    widths = [draw(st.integers(0, 3)) for _ in range(2 * draw(st.integers(1, len(shape))))]
    value = draw(st.sampled_from([0.0, 1.5, -2.0, float("inf")]))
    return lambda x: x.pad(widths, value=value), lambda x: F.pad(x, widths, value=value)


def roll(draw: Draw, shape: tuple[int, ...]) -> Both:
    by = draw(st.integers(-7, 7))
    if draw(st.booleans()):
        return lambda x: x.roll(by), lambda x: x.roll(by)
    axis = axis_of(draw, shape)
    return lambda x: x.roll(by, axis), lambda x: x.roll(by, axis)


def split(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis, n = axis_of(draw, shape), draw(st.integers(1, 5))
    return lambda x: x.split(n, axis)[-1], lambda x: x.split(n, axis)[-1]


def chunk(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis, n = axis_of(draw, shape), draw(st.integers(1, 5))
    return lambda x: x.chunk(n, axis)[-1], lambda x: x.chunk(n, axis)[-1]


def unbind(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape)
    return lambda x: x.unbind(axis)[-1], lambda x: x.unbind(axis)[-1]


def movedim(draw: Draw, shape: tuple[int, ...]) -> Both:
    a, b = (draw(st.permutations(range(len(shape)))) for _ in range(2))
    n = draw(st.integers(0, len(shape)))
    return lambda x: x.movedim(a[:n], b[:n]), lambda x: x.movedim(a[:n], b[:n])


def glu(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape)
    twice = [1] * len(shape)
    twice[axis] = 2
    return lambda x: x.repeat(*twice).glu(axis), lambda x: F.glu(x.repeat(*twice), axis)


def index_select(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape)
    index = draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=4))
    return (
        lambda x: x.index_select(axis, Tensor(index)),
        lambda x: x.index_select(axis, torch.tensor(index)),
    )


def cat(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape)
    return (lambda x: x.cat(x * 2, x, dim=axis), lambda x: torch.cat([x, x * 2, x], axis))


def stack(draw: Draw, shape: tuple[int, ...]) -> Both:
    axis = axis_of(draw, shape, 1)
    return (lambda x: x.stack(x + 1, x, dim=axis), lambda x: torch.stack([x, x + 1, x], axis))


MOVES = [permute, transpose, reshape, flip, expand, unsqueeze, flatten, repeat, repeat_interleave,
         pad, roll, split, chunk, cat, stack, unbind, movedim, index_select, glu]  # fmt: skip


@pytest.mark.parametrize("move", MOVES, ids=lambda m: m.__name__)
@given(data=st.data())
def test_move(move: Callable[[Draw, tuple[int, ...]], Both], data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    ours, theirs = move(data.draw, shape)
    op = Operation(move.__name__, ours, theirs)
    kinds = "efd" if move in (pad, glu) else "efdil"  # integers have no infinity to pad with
    check(op, [data.draw(values(shape, data.draw(st.sampled_from(kinds)), op))])


@given(data=st.data())
def test_moves_in_a_row(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1, longest=4))
    mine = theirs = np.arange(np.prod(shape), dtype=present(np.dtype(float))).reshape(shape)
    mine, theirs = Tensor(mine), torch.from_numpy(theirs)
    for _ in range(data.draw(st.integers(2, 5))):
        move = data.draw(st.sampled_from([permute, reshape, flip, unsqueeze, pad, roll, split]))
        a, b = move(data.draw, tuple(theirs.shape))
        mine, theirs = a(mine), b(theirs)
        if theirs.ndim > 4 or theirs.numel() > 2000:
            break
    same(mine, theirs)
    same(mine.exp2().sum(0) if mine.ndim else mine, theirs.exp2().sum(0) if theirs.ndim else theirs)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@given(data=st.data())
def test_pad_modes(mode: str, data: st.DataObject) -> None:
    shape = (2, data.draw(st.integers(1, 3)), 4, 5)
    widths = [data.draw(st.integers(0, 3)) for _ in range(4)]
    op = Operation(mode, lambda x: x.pad(widths, mode), lambda x: F.pad(x, widths, mode))
    check(op, [data.draw(values(shape, "d", op))])


@pytest.mark.parametrize("name", ["tril", "triu"])
@given(data=st.data())
def test_triangles(name: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(-4, 4))
    op = Operation(name, lambda x: getattr(x, name)(k), lambda x: getattr(x, name)(k))
    check(op, [data.draw(values(data.draw(shapes(least_axes=2)), "d", op))])


@given(data=st.data())
def test_diagonal(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=2))
    a, b = data.draw(st.permutations(range(len(shape))))[:2]
    k = data.draw(st.integers(-shape[a], shape[b]))
    op = Operation("diagonal", lambda x: x.diagonal(k, a, b), lambda x: x.diagonal(k, a, b))
    check(op, [data.draw(values(shape, "d", op))])


@pytest.mark.parametrize("n", [0, 1, 4])
def test_diag(n: int) -> None:
    check(Operation("diag", Tensor.diag, torch.diag), [np.arange(1.0, n + 1)])


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrid(indexing: str) -> None:
    x, y, z = (np.arange(n, dtype=present(np.dtype(float))) for n in (3, 4, 2))
    ours = Tensor(x).meshgrid(Tensor(y), Tensor(z), indexing=indexing)
    theirs = torch.meshgrid(*map(torch.from_numpy, (x, y, z)), indexing=indexing)
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)


@pytest.mark.parametrize("args", [(5,), (2, 9), (0, 10, 3), (10, 0, -3), (3, 3), (0.0, 1.0, 0.25),
                                  (1, 2.5, 0.5)])  # fmt: skip
def test_arange(args: tuple[float, ...]) -> None:
    same(Tensor.arange(*args), torch.arange(*args))


@pytest.mark.parametrize("args", [(0, 1, 5), (-3, 4, 8), (2, 2, 3), (1, 9, 1), (0, 1, 0)])
def test_linspace(args: tuple[float, float, int]) -> None:
    same(Tensor.linspace(*args), torch.linspace(*args))


@pytest.mark.parametrize("args", [(3,), (2, 5), (4, 2), (0,)])
def test_eye(args: tuple[int, ...]) -> None:
    same(Tensor.eye(*args), torch.eye(*args))
