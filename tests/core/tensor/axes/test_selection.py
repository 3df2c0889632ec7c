"""Elements picked by masks, indices and places, in shapes that are known before the values are."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, TinyJit, dtypes
from core.errors import DTypeError, ShapeError

X = np.array([[0, 3, 0], [5, 0, 7]], np.int32)


@pytest.mark.parametrize("size", [0, 1, 3, 5])
def test_nonzero_of_a_size(size: int) -> None:
    wanted = np.full((size, 2), -1)
    found = np.argwhere(X)[:size]
    wanted[: len(found)] = found
    mine = Tensor(X).nonzero(size, fill_value=-1)
    assert (mine.shape, mine.dtype) == ((size, 2), dtypes.int32)
    assert mine.tolist() == wanted.tolist()
    assert Tensor(X[0]).nonzero(size=2).tolist() == [[1], [0]]
    assert Tensor(5).nonzero(size=2).shape == Tensor.zeros(0, 3).nonzero(size=2)[:, :0].shape


@pytest.mark.parametrize("size", [0, 2, 6, 8])
def test_masked_select_of_a_size(size: int) -> None:
    x = Tensor([[1.5, 2, 3], [4, 5, 6]])
    wanted = [*x.numpy()[X != 0].tolist(), *[9.0] * 8][:size]
    assert x.masked_select(Tensor(X) != 0, size, 9.0).tolist() == wanted
    x.requires_grad = True
    x.masked_select(Tensor(X) != 0, 2, 9.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(ShapeError, match="size of -1"):
        x.masked_select(Tensor(X) != 0, -1)
    with pytest.raises(DTypeError):
        x.masked_select(Tensor(X), 2)


def test_they_can_be_captured() -> None:
    @TinyJit
    def places(x: Tensor) -> Tensor:
        return x.nonzero(size=3, fill_value=-1).realize()

    for x in ([0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]):
        wanted = [i for i, v in enumerate(x) if v] + [-1] * 3
        assert places(Tensor(x)).flatten().tolist() == wanted[:3]


def test_index_select() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for dim in (0, 1, 2, -1):
        found = Tensor(x).index_select(dim, Tensor([1, 0, 1]))
        np.testing.assert_array_equal(found.numpy(), np.take(x, [1, 0, 1], dim))
    with pytest.raises(ShapeError, match="the index is a vector"):
        Tensor(x).index_select(0, Tensor([[1]]))
    with pytest.raises(DTypeError):
        Tensor(x).index_select(0, Tensor([1.0]))
    with pytest.raises(ShapeError):
        Tensor(3).index_select(0, Tensor([0]))


def test_axes_taken_apart_and_moved() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for dim in range(-3, 3):
        parts = Tensor(x).unbind(dim)
        assert [p.tolist() for p in parts] == [p.tolist() for p in np.moveaxis(x, dim, 0)]
    for source, destination in ((0, 2), (-1, 0), ((0, 1), (1, 2)), ((2, 0), (0, 1))):
        found = Tensor(x).movedim(source, destination)
        np.testing.assert_array_equal(found.numpy(), np.moveaxis(x, source, destination))
    for wrong in (((0, 1), 0), ((0, 0), (1, 2)), ((0, 1), (2, -1))):
        with pytest.raises(ShapeError, match="each once"):
            Tensor(x).movedim(*wrong)
    with pytest.raises(ShapeError):
        Tensor(1).unbind()


def test_sums_and_products_of_several() -> None:
    a, b = Tensor([1.0, 2]), Tensor([3.0, 5])
    assert a.usum(b, 1).tolist() == [5, 8]
    assert a.uprod(b, b).tolist() == [9, 50]
    assert Tensor.usum(a).tolist() == [1, 2]
    yes, no = Tensor([True, True]), Tensor([True, False])
    assert yes.uprod(no).tolist() == [True, False]
    assert no.usum(no).tolist() == [True, False]
    assert yes.uprod(no).dtype is dtypes.bool


def test_norms() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for p in (0, 1, 2, 3, np.inf):
        wanted = np.linalg.norm(x.ravel(), p)
        np.testing.assert_allclose(Tensor(x).norm(p).item(), wanted, rtol=1e-5)
        for keepdim in (False, True):
            found = Tensor(x).norm(p, 1, keepdim)
            wanted = np.linalg.norm(x, p, 1, keepdim)
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)
    zero = Tensor.zeros(3).contiguous()
    zero.requires_grad = True
    zero.norm().backward()
    assert zero.grad is not None
    assert zero.grad.tolist() == [0, 0, 0]


def test_outer_and_glu() -> None:
    a, b = np.arange(3.0), np.arange(4.0)
    np.testing.assert_array_equal(Tensor(a).outer(Tensor(b)).numpy(), np.outer(a, b))
    with pytest.raises(ShapeError, match="both are vectors"):
        Tensor(a).outer(Tensor([[1.0]]))
    x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    for dim in (0, -1):
        first, second = np.split(x, 2, dim)
        wanted = first / (1 + np.exp(-second))
        np.testing.assert_allclose(Tensor(x).glu(dim).numpy(), wanted, rtol=1e-5)
    with pytest.raises(ShapeError, match="it takes halves"):
        Tensor(x).reshape(8, 3).glu()


def test_options_of_known_functions() -> None:
    x = np.linspace(-4, 4, 9, dtype=np.float32)
    wanted = Tensor(x) * (Tensor(x / np.sqrt(2)).erf() + 1) / 2
    np.testing.assert_allclose(Tensor(x).gelu("none").numpy(), wanted.numpy(), atol=1e-6)
    assert not Tensor(x).gelu("none").allclose(Tensor(x).gelu(), atol=1e-5)
    with pytest.raises(DTypeError, match="gelu by 'exact'"):
        Tensor(x).gelu("exact")
    assert Tensor([6]).bitwise_and(3, reverse=True).tolist() == [2]
    assert Tensor.randperm(5, dtype="int64").dtype is dtypes.int64
    assert sorted(Tensor.randperm(5).tolist()) == [0, 1, 2, 3, 4]
    copy = Tensor(x).clone("REFERENCE")
    assert copy.device == "REFERENCE"
    assert copy.tolist() == x.tolist()
