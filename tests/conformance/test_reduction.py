"""Reductions, running reductions and order against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from tests.conformance.comparing import Operation, check, held, same, shapes, values


def _dims(x: torch.Tensor, axis: Any) -> Any:
    return tuple(range(x.ndim)) if axis is None else axis


REDUCE = [
    Operation("sum", lambda x, axis, keepdim: x.sum(axis, keepdim),
              lambda x, axis, keepdim: x.sum(_dims(x, axis), keepdim), kinds="efdbBhil?"),
    Operation("mean", lambda x, axis, keepdim: x.mean(axis, keepdim),
              lambda x, axis, keepdim: x.mean(_dims(x, axis), keepdim), kinds="efd"),
    Operation("max", lambda x, axis, keepdim: x.max(axis, keepdim),
              lambda x, axis, keepdim: x.amax(_dims(x, axis), keepdim), kinds="efdbBhil?"),
    Operation("min", lambda x, axis, keepdim: x.min(axis, keepdim),
              lambda x, axis, keepdim: x.amin(_dims(x, axis), keepdim), kinds="efdbBhil?"),
    Operation("any", lambda x, axis, keepdim: x.any(axis, keepdim),
              lambda x, axis, keepdim: x.any(_dims(x, axis), keepdim), low=-1, high=1, kinds="fi?"),
    Operation("all", lambda x, axis, keepdim: x.all(axis, keepdim),
              lambda x, axis, keepdim: x.all(_dims(x, axis), keepdim), low=-1, high=1, kinds="fi?"),
    Operation("logsumexp", lambda x, axis, keepdim: x.logsumexp(axis, keepdim),
              lambda x, axis, keepdim: torch.logsumexp(x, _dims(x, axis), keepdim)),
    Operation("var_0", lambda x, axis, keepdim: x.var(axis, keepdim, 0),
              lambda x, axis, keepdim: x.var(_dims(x, axis), correction=0, keepdim=keepdim)),
]  # fmt: skip


@pytest.mark.parametrize("op", REDUCE, ids=repr)
@given(data=st.data())
def test_reduce(op: Operation, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axes = st.lists(
        st.integers(-len(shape), len(shape) - 1), min_size=1, unique_by=lambda a: a % len(shape)
    )
    axis = data.draw(st.none() | axes.map(tuple))
    x = data.draw(values(shape, data.draw(st.sampled_from(op.kinds)), op))
    check(op, [x], axis=axis, keepdim=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["var", "std", "prod", "argmax", "argmin"])
@given(data=st.data())
def test_reduce_one_axis(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    op = Operation(
        name,
        lambda x: getattr(x, name)(axis),
        lambda x: getattr(x, name)(axis),
        gradient=name in ("var", "prod"),
        loose=4,
    )
    kinds = "fdil" if name not in ("var", "std") else "fd"
    x = data.draw(values(shape, data.draw(st.sampled_from(kinds)), op))
    if name in ("var", "std") and shape[axis] == 1:
        return
    check(op, [x])


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_gradient_of_prod_with_zeros(zeros: int) -> None:
    x = np.array([[2.0, -3.0, 0.5, 4.0]])
    x[0, :zeros] = 0
    check(Operation("prod", lambda t: t.prod(1), lambda t: t.prod(1)), [x])


def test_gradient_of_max_is_shared_by_equals() -> None:
    x = np.array([[1.0, 3.0, 3.0, 0.0], [5.0, 5.0, 5.0, 5.0]], np.float32)
    check(Operation("max", lambda t: t.max(1), lambda t: t.amax(1)), [x])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@given(data=st.data())
def test_softmax(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    op = Operation(
        name,
        lambda x: getattr(x, name)(axis),
        lambda x: getattr(torch, name)(x, axis),
        low=-60,
        high=60,
    )
    check(op, [data.draw(values(shape, data.draw(st.sampled_from("efd")), op))])


SCAN = {
    "cumsum": (lambda x, axis: x.cumsum(axis), torch.cumsum),
    "cumprod": (lambda x, axis: x.cumprod(axis), torch.cumprod),
    "cummax": (lambda x, axis: x.cummax(axis)[0], lambda x, axis: torch.cummax(x, axis).values),
    "cummax at": (lambda x, axis: x.cummax(axis)[1], lambda x, axis: torch.cummax(x, axis).indices),
    "cummin": (lambda x, axis: x.cummin(axis)[0], lambda x, axis: torch.cummin(x, axis).values),
    "cummin at": (lambda x, axis: x.cummin(axis)[1], lambda x, axis: torch.cummin(x, axis).indices),
}


@pytest.mark.parametrize("name", SCAN)
@given(data=st.data())
def test_scan(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    ours, theirs = SCAN[name]
    op = Operation(
        name,
        lambda x: ours(x, axis),
        lambda x: theirs(x, axis),
        low=-2,
        high=2,
        gradient=name == "cumsum",
        loose=4,
    )
    check(op, [data.draw(values(shape, data.draw(st.sampled_from("fdil")), op))])


@given(data=st.data())
def test_logcumsumexp(data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    op = Operation(
        "logcumsumexp",
        lambda x: x.logcumsumexp(axis),
        lambda x: x.logcumsumexp(axis),
        low=-300,
        high=300,
    )
    check(op, [data.draw(values(shape, data.draw(st.sampled_from("fd")), op))])


@pytest.mark.parametrize("n", [257, 600])
def test_long_logcumsumexp(n: int) -> None:
    x = np.random.default_rng(1).normal(size=(2, n)) * 100
    check(Operation("long", lambda x: x.logcumsumexp(1), lambda x: x.logcumsumexp(1)), [x])


@pytest.mark.parametrize("p", [0, 1, 2, 3, 2.5, float("inf")])
def test_normalize(p: float) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4))
    x[1] = 0
    op = Operation("normalize", lambda x: x.normalize(p, 1), lambda x: F.normalize(x, p, 1))
    check(op, [x[[0, 2]]])
    check(Operation("zeros", op.ours, op.theirs, gradient=p in (1, 2)), [x])


@pytest.mark.parametrize("p", [0, 1, 2, 3, 2.5, float("inf")])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_norm(p: float, axis: int | None) -> None:
    x = np.random.default_rng(2).normal(size=(3, 4))
    op = Operation("norm", lambda x: x.norm(p, axis), lambda x: x.norm(p, axis))
    check(op, [x])
    check(Operation("zeros", op.ours, op.theirs, gradient=p == 2), [x * 0])


@pytest.mark.parametrize("name", SCAN)
@pytest.mark.parametrize("n", [257, 1000])
def test_long_scan(name: str, n: int) -> None:
    x = held(np.random.default_rng(n).uniform(0.9, 1.1, (2, n)))
    ours, theirs = SCAN[name]
    same(ours(Tensor(x), 1), theirs(torch.from_numpy(x), 1))


@pytest.mark.parametrize("descending", [False, True])
@given(data=st.data())
def test_sort(descending: bool, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_axes=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    op = Operation(
        "sort",
        lambda x: x.sort(axis, descending)[0],
        lambda x: torch.sort(x, dim=axis, descending=descending, stable=True).values,
    )
    x = data.draw(values(shape, data.draw(st.sampled_from("fdil")), op))
    check(op, [x])
    wanted = torch.sort(torch.from_numpy(x), dim=axis, descending=descending, stable=True).indices
    same(Tensor(x).argsort(axis, descending), wanted)


@given(data=st.data())
def test_topk(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    k = data.draw(st.integers(1, n))
    x = np.random.default_rng(n).permutation(n).astype(np.float32).reshape(1, n)
    largest = data.draw(st.booleans())
    have, want = Tensor(x).topk(k, 1, largest), torch.topk(torch.from_numpy(x), k, 1, largest)
    same(have[0], want.values)
    same(have[1], want.indices)
