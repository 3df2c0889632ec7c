"""Matrix products, einsum, convolution and pooling against PyTorch, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import Tensor
from core.errors import ShapeError
from tests.conformance.comparing import Operation, check, values


@given(data=st.data())
def test_matmul(data: st.DataObject) -> None:
    two = data.draw(
        hnp.mutually_broadcastable_shapes(
            signature="(m?,n),(n,p?)->(m?,p?)", max_dims=2, max_side=5
        )
    )
    kind = data.draw(st.sampled_from("efdil"))
    op = Operation("matmul", lambda x, y: x @ y, torch.matmul, loose=4)
    check(op, [data.draw(values(s, kind, op)) for s in two.input_shapes])


EINSUM = [
    ("ij,jk->ik", [(3, 4), (4, 2)]),
    ("ij,jk", [(3, 4), (4, 2)]),
    ("ij->ji", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("i,i->", [(5,), (5,)]),
    ("i,j->ij", [(3,), (4,)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("ijk,ijk,k->i", [(2, 3, 4), (2, 3, 4), (4,)]),
    ("ibi->b", [(3, 4, 3)]),
    ("ab,cd->dcba", [(2, 3), (4, 5)]),
]


@pytest.mark.parametrize(("formula", "sizes"), EINSUM, ids=[f for f, _ in EINSUM])
def test_einsum(formula: str, sizes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(0)
    op = Operation(
        "einsum", lambda *xs: Tensor.einsum(formula, *xs), lambda *xs: torch.einsum(formula, *xs)
    )
    check(op, [random.uniform(-2, 2, s) for s in sizes])


BY_NAME: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "mm": (lambda x, y: x.mm(y), [(3, 4), (4, 2)]),
    "bmm": (lambda x, y: x.bmm(y), [(2, 3, 4), (2, 4, 2)]),
    "mv": (lambda x, y: x.mv(y), [(3, 4), (4,)]),
    "addmm": (lambda x, a, b: x.addmm(a, b, beta=2, alpha=-0.5), [(3, 2), (3, 4), (4, 2)]),
    "baddbmm": (lambda x, a, b: x.baddbmm(a, b), [(2, 1, 2), (2, 3, 4), (2, 4, 2)]),
    "trace": (lambda x: x.trace(), [(3, 4)]),
    "kron": (lambda x, y: x.kron(y), [(2, 3), (2, 1, 2)]),
    "amax": (lambda x: x.amax((0, 2)), [(3, 4, 2)]),
    "amin": (lambda x: x.amin(1, keepdim=True), [(3, 4, 2)]),
    "broadcast_to": (lambda x: x.broadcast_to((2, 3, 4)), [(3, 1)]),
    "tile": (lambda x: x.tile((2, 3)), [(2, 3, 1)]),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_by_name(name: str) -> None:
    function, sizes = BY_NAME[name]
    random = np.random.default_rng(0)
    check(Operation(name, function, function), [random.uniform(-2, 2, s) for s in sizes])


def test_count_nonzero() -> None:
    x = np.array([[0, 1, 2], [0, 0, 3]])
    assert Tensor(x).count_nonzero().item() == 3
    assert Tensor(x).count_nonzero(1).tolist() == [2, 1]


def test_products_by_name_refuse_other_shapes() -> None:
    x = Tensor.ones(2, 3, 4)
    for call in (lambda: x.mm(x), lambda: x.trace(), lambda: x.mv(x), lambda: x.bmm(x[:1])):
        with pytest.raises(ShapeError):
            call()


@st.composite
def windows(
    draw: st.DrawFn, space: int
) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """(input lengths, kernel, stride, dilation, padding) of windows that fit."""

    def some(low: int, high: int) -> list[int]:
        return [draw(st.integers(low, high)) for _ in range(space)]

    size, kernel, stride, dilation, padding = (
        some(1, 8),
        some(1, 4),
        some(1, 4),
        some(1, 3),
        some(0, 2),
    )
    assume(
        all(
            d * (k - 1) + 1 <= n + 2 * p
            for n, k, d, p in zip(size, kernel, dilation, padding, strict=True)
        )
    )
    return size, kernel, stride, dilation, padding


CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


@pytest.mark.parametrize("space", [1, 2, 3])
@given(data=st.data())
def test_conv(space: int, data: st.DataObject) -> None:
    size, kernel, stride, dilation, padding = data.draw(windows(space))
    if space == 3:
        size = [min(n, 5) for n in size]
        assume(
            all(
                d * (k - 1) + 1 <= n + 2 * p
                for n, k, d, p in zip(size, kernel, dilation, padding, strict=True)
            )
        )
    groups, inner, outer = (data.draw(st.integers(1, 3)) for _ in range(3))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.uniform(-2, 2, (data.draw(st.integers(1, 2)), groups * inner, *size))
    w = random.uniform(-2, 2, (groups * outer, inner, *kernel))
    b = random.uniform(-2, 2, groups * outer)
    op = Operation(
        "conv",
        lambda x, w, b: x.conv2d(w, b, groups, stride, dilation, padding),
        lambda x, w, b: CONV[space](x, w, b, stride, padding, dilation, groups),
    )
    check(op, [x, w, b])


@pytest.mark.parametrize("space", [1, 2])
@given(data=st.data())
def test_conv_transpose(space: int, data: st.DataObject) -> None:
    size, kernel, stride, dilation, padding = data.draw(windows(space))
    more = [data.draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)]
    output = [
        (n - 1) * s - 2 * p + d * (k - 1) + o + 1
        for n, s, p, d, k, o in zip(size, stride, padding, dilation, kernel, more, strict=True)
    ]
    assume(min(output) > 0)
    groups, inner, outer = (data.draw(st.integers(1, 3)) for _ in range(3))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.uniform(-2, 2, (2, groups * inner, *size))
    w = random.uniform(-2, 2, (groups * inner, outer, *kernel))
    b = random.uniform(-2, 2, groups * outer)
    theirs = {1: F.conv_transpose1d, 2: F.conv_transpose2d}[space]
    op = Operation(
        "conv_transpose",
        lambda x, w, b: x.conv_transpose2d(w, b, groups, stride, dilation, padding, more),
        lambda x, w, b: theirs(x, w, b, stride, padding, more, groups, dilation),
    )
    check(op, [x, w, b])


@pytest.mark.parametrize("ceil_mode", [False, True])
@given(data=st.data())
def test_max_pool(ceil_mode: bool, data: st.DataObject) -> None:
    size, kernel, stride, dilation, _ = data.draw(windows(2))
    assume(all(d * (k - 1) + 1 <= n for n, k, d in zip(size, kernel, dilation, strict=True)))
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.permutation(2 * 3 * int(np.prod(size))).reshape(2, 3, *size).astype(np.float64)
    op = Operation(
        "max_pool",
        lambda x: x.max_pool2d(kernel, stride, dilation, padding, ceil_mode),
        lambda x: F.max_pool2d(x, kernel, stride, padding, dilation, ceil_mode),
    )
    check(op, [x])


@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("ceil_mode", [False, True])
@given(data=st.data())
def test_avg_pool(ceil_mode: bool, count_include_pad: bool, data: st.DataObject) -> None:
    size, kernel, stride, _, _ = data.draw(windows(2))
    assume(all(k <= n for n, k in zip(size, kernel, strict=True)))
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.uniform(-2, 2, (2, 3, *size))
    op = Operation(
        "avg_pool",
        lambda x: x.avg_pool2d(kernel, stride, 1, padding, ceil_mode, count_include_pad),
        lambda x: F.avg_pool2d(x, kernel, stride, padding, ceil_mode, count_include_pad),
    )
    check(op, [x])


def test_pools_without_arguments() -> None:
    x = np.random.default_rng(0).uniform(-2, 2, (1, 2, 5, 6))
    check(Operation("max", Tensor.max_pool2d, lambda x: F.max_pool2d(x, 2)), [x])
    check(Operation("avg", Tensor.avg_pool2d, lambda x: F.avg_pool2d(x, 2)), [x])
