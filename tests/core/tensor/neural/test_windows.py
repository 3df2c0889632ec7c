"""What is easier to say of windows, resampling and drawing than to compare with PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, dtypes
from core.errors import ShapeError


def test_unfolded_windows_that_overlap_are_copies() -> None:
    x = Tensor([1, 2, 3, 4])
    apart, over = x.unfold(0, 2, 2), x.unfold(0, 2, 1)
    over += 1
    assert x.tolist() == [1, 2, 3, 4]
    assert over.tolist() == [[2, 3], [3, 4], [4, 5]]
    apart += 1
    assert x.tolist() == [2, 3, 4, 5]
    assert Tensor(5).unfold(0, 1, 1).tolist() == [5]


def test_cropping_is_by_value() -> None:
    x = Tensor([1, 2, 3, 4])
    cut = x.pad((-1, -1))
    cut += 10
    assert (x.tolist(), cut.tolist()) == ([1, 2, 3, 4], [12, 13])
    assert x.pad((-4, 2)).tolist() == [0, 0]
    assert x.pad((-2, 0), value=7).tolist() == [3, 4]


def test_lengths_on_one_side() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert x.pad_to(None, 3).tolist() == [[1, 2, 0], [3, 4, 0]]
    assert x.pad_to((3, 2), value=7).tolist() == [[1, 2], [3, 4], [7, 7]]
    assert x.shrink_to(1, None).tolist() == [[1, 2]]
    for call in (lambda: x.pad_to(1, 2), lambda: x.shrink_to(3, 2), lambda: x.pad_to(3),
                 lambda: x.shrink_to(-1, 2)):  # fmt: skip
        with pytest.raises(ShapeError, match=r"_to \((.|\n)*hint"):
            call()


def test_nearest_neighbours_at_whole_factors_are_movement() -> None:
    x = Tensor.rand(1, 1, 4, 4).realize()
    assert len(x.interpolate(8, "nearest").contiguous().schedule()) == 1
    assert x.interpolate((4, 4)).tolist() == x.tolist()


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float64])
def test_interpolation_keeps_the_dtype(dtype: str) -> None:
    x = Tensor.ones(1, 1, 3, 3).cast(dtype)
    made = x.interpolate((5, 2))
    assert made.dtype is dtype
    assert made.float().tolist() == [[[[1, 1]] * 5]]


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_draws_by_weight(replacement: bool) -> None:
    Tensor.manual_seed(3)
    weights = Tensor([[0.0, 1.0, 0.0, 3.0, 0.0]]).expand(4000, 5)
    first = weights.multinomial(2, replacement).numpy()
    assert first.shape == (4000, 2)
    assert set(np.unique(first)) == {1, 3}
    assert abs((first[:, 0] == 3).mean() - 0.75) < 0.03
    assert (first[:, 0] != first[:, 1]).all() == (not replacement)
    assert weights[0].multinomial(1).shape == (1,)


def test_multinomial_of_nearly_nothing() -> None:
    assert Tensor([0.0, 1e-30, 0.0]).multinomial(3, replacement=True).tolist() == [1, 1, 1]
    assert Tensor([5.0]).multinomial().tolist() == [0]
    assert Tensor.zeros(0, 3).multinomial(2).shape == (0, 2)
    with pytest.raises(ShapeError, match="2 samples of weights"):
        Tensor([1.0]).multinomial(2)
    with pytest.raises(ShapeError, match="1 samples of weights"):
        Tensor.zeros(0).multinomial(1, replacement=True)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3)])
def test_newton_schulz_makes_singular_values_one(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    made = Tensor(x, device="REFERENCE").newton_schulz(30, (1.5, -0.5)).numpy()
    u, _, v = np.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(made, u @ v, atol=1e-6)
    with pytest.raises(ShapeError, match="newton_schulz of"):
        Tensor([1.0]).newton_schulz(5, (1.5, -0.5))
