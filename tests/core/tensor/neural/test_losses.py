"""How many kernels losses take, and the losses of known logits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor
from core.errors import ShapeError
from core.uop import Ops

REDUCTIONS = ("mean", "sum", "none")


def kernels(*tensors: Tensor) -> int:
    return sum(item.ast.op is Ops.SINK for item in tensors[0].schedule(*tensors[1:]))


def floats(*shape: int) -> Tensor:
    return Tensor.empty(*shape, device="NULL", requires_grad=True)


def classes() -> Tensor:
    return Tensor.empty(64, dtype="int32", device="NULL")


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_crossentropy_is_softmax_and_one_sum(reduction: str, smoothing: float) -> None:
    x, y, share = floats(64, 10), classes(), smoothing
    counting = reduction == "mean"  # of the places that are not ignored
    assert kernels(x.cross_entropy(y, reduction, share)) == 3
    assert kernels(x.cross_entropy(floats(64, 10), reduction, share)) == 3

    def sparse() -> Tensor:
        return x.sparse_categorical_crossentropy(y, label_smoothing=share, reduction=reduction)

    assert kernels(sparse()) == 3 + counting
    loss, seed = sparse(), None if reduction != "none" else floats(64)
    # what a label picks of the gradient is cheap, unless it is divided by a count
    picked = not share and not counting
    assert kernels(loss, *loss.gradient(x, gradient=seed)) == 5 + counting - picked


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_other_losses_are_one_kernel(reduction: str) -> None:
    x, y, counting = floats(64, 10), classes(), reduction == "mean"
    assert kernels(x.nll_loss(y, reduction=reduction)) == 1
    assert kernels(x.nll_loss(y, ignore_index=3, reduction=reduction)) == 1 + counting
    assert kernels(x.nll_loss(y, floats(10), 3, reduction)) == 1 + counting
    assert kernels(x.binary_crossentropy(floats(64, 10), reduction)) == 1
    assert kernels(x.binary_crossentropy_logits(floats(64, 10), reduction)) == 1


LOGITS = [[0.0, -math.inf, 0.0], [-math.inf, 5.0, -math.inf], [1.0, 2.0, 3.0]]
LABELS = [2, 1, -1]


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, y, r: x.sparse_categorical_crossentropy(y, reduction=r),
        lambda x, y, r: x.log_softmax().nll_loss(y, ignore_index=-1, reduction=r),
    ],
)
def test_logits_of_minus_infinity_beside_the_target(
    loss: Callable[[Tensor, Tensor, str], Tensor],
) -> None:
    x, y = Tensor(LOGITS, requires_grad=True), Tensor(LABELS)
    np.testing.assert_allclose(loss(x, y, "none").numpy(), [math.log(2), 0, 0], rtol=1e-6)
    assert loss(x, y, "sum").item() == pytest.approx(math.log(2))
    assert loss(x, y, "mean").item() == pytest.approx(math.log(2) / 2)
    (slope,) = loss(x, y, "sum").gradient(x)
    np.testing.assert_allclose(slope.numpy(), [[0.5, 0, -0.5], [0, 0, 0], [0, 0, 0]], atol=1e-7)


def test_a_mean_of_halves_does_not_overflow() -> None:
    x = Tensor([[0.0, 1000.0]] * 100, dtype="half")
    y = Tensor([0] * 100)
    assert x.sparse_categorical_crossentropy(y).item() == 1000
    assert x.cross_entropy(y).item() == 1000
    assert (-x).nll_loss(y + 1).item() == 1000


def test_nothing_counted_is_nan() -> None:
    x, y = Tensor([[1.0, 2.0]]), Tensor([-1])
    assert math.isnan(x.sparse_categorical_crossentropy(y).item())
    assert x.sparse_categorical_crossentropy(y, reduction="sum").item() == 0


def test_logits_without_axes_are_refused() -> None:
    for loss in (Tensor.cross_entropy, Tensor.sparse_categorical_crossentropy, Tensor.nll_loss):
        with pytest.raises(ShapeError):
            loss(Tensor(1.0), Tensor(0))
