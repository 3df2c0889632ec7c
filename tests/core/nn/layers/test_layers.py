"""Layers: parameters, shapes, running statistics, and that models made of them learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Tensor, nn
from core.errors import GradientError, ShapeError
from core.nn.state import get_parameters, get_state_dict


@pytest.mark.parametrize(("layer", "given", "result", "parameters"), [
    (nn.Linear(4, 3), (2, 4), (2, 3), {"weight": (3, 4), "bias": (3,)}),
    (nn.Conv2d(2, 4, 3), (1, 2, 5, 6), (1, 4, 3, 4), {"weight": (4, 2, 3, 3), "bias": (4,)}),
    (nn.Conv2d(2, 4, (1, 3), padding="same", groups=2), (1, 2, 5, 6), (1, 4, 5, 6),
     {"weight": (4, 1, 1, 3), "bias": (4,)}),
    (nn.Conv1d(2, 4, 3, bias=False), (1, 2, 5), (1, 4, 3), {"weight": (4, 2, 3)}),
    (nn.ConvTranspose2d(2, 4, 3, 2), (1, 2, 3, 4), (1, 4, 7, 9),
     {"weight": (2, 4, 3, 3), "bias": (4,)}),
    (nn.ConvTranspose1d(2, 4, 3), (1, 2, 3), (1, 4, 5), {"weight": (2, 4, 3), "bias": (4,)}),
    (nn.Embedding(5, 3), (2, 2), (2, 2, 3), {"weight": (5, 3)}),
    (nn.LayerNorm(4), (2, 4), (2, 4), {"weight": (4,), "bias": (4,)}),
    (nn.GroupNorm(2, 4), (2, 4, 3), (2, 4, 3), {"weight": (4,), "bias": (4,)}),
    (nn.InstanceNorm(4, affine=False), (2, 4, 3), (2, 4, 3), {}),
    (nn.RMSNorm(4), (2, 4), (2, 4), {"weight": (4,)}),
    (nn.BatchNorm2d(4), (2, 4, 3, 3), (2, 4, 3, 3),
     {"weight": (4,), "bias": (4,), "num_batches_tracked": (), "running_mean": (4,),
      "running_var": (4,)}),
])  # fmt: skip
def test_shapes(layer: Any, given: Any, result: Any, parameters: dict[str, Any]) -> None:
    x = (
        Tensor.zeros(given, dtype="int32")
        if isinstance(layer, nn.Embedding)
        else Tensor.ones(given)
    )
    assert layer(x).shape == result
    assert layer(x).numpy().shape == result
    assert {k: t.shape for k, t in get_state_dict(layer).items()} == parameters


@pytest.mark.parametrize("make", [
    lambda: nn.Conv2d(3, 4, 3, groups=2),
    lambda: nn.GroupNorm(3, 4),
    lambda: nn.Conv2d(1, 1, 3, padding="half"),
    lambda: nn.LayerNorm(3)(Tensor.zeros(2, 4)),
])  # fmt: skip
def test_mistakes(make: Callable[[], Any]) -> None:
    with pytest.raises(ShapeError):
        make()


def test_batch_norm_learns_its_statistics_only_while_training() -> None:
    layer = nn.BatchNorm(2, momentum=0.5)
    x = np.array([[1.0, 10.0], [3.0, 30.0]], np.float32)
    layer(Tensor(x)).realize()
    assert layer.running_mean.tolist() == [0, 0]
    with Tensor.train():
        y = layer(Tensor(x))
    np.testing.assert_allclose(y.numpy().mean(0), [0, 0], atol=1e-6)
    np.testing.assert_allclose(layer.running_mean.numpy(), [1, 10])
    np.testing.assert_allclose(layer.running_var.numpy(), [1.5, 100.5])
    assert layer.num_batches_tracked.item() == 1
    assert layer.running_mean.requires_grad is False


def test_initial_weights_are_bounded_by_fan_in() -> None:
    layer = nn.Linear(25, 300)
    assert 0.18 < np.abs(layer.weight.numpy()).max() <= 0.2
    layers = [nn.LayerNorm(3), nn.LayerNorm(3)]
    assert layers[0].weight.uop is not layers[1].weight.uop


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [
    lambda p: nn.optim.SGD(p, lr=0.3, momentum=0.5),
    lambda p: nn.optim.SGD(p, lr=0.3, momentum=0.5, nesterov=True, weight_decay=1e-4),
    lambda p: nn.optim.Adam(p, lr=0.05),
    lambda p: nn.optim.AdamW(p, lr=0.05),
])  # fmt: skip
def test_learning_xor(make: Callable[[list[Tensor]], nn.optim.Optimizer]) -> None:
    Tensor.manual_seed(4)
    layers = [nn.Linear(2, 8), nn.Linear(8, 1)]
    optimizer = make(get_parameters(layers))
    x, y = Tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]]), Tensor([[0.0], [1], [1], [0]])
    losses: list[float] = []
    with Tensor.train():
        for _ in range(120):
            optimizer.zero_grad()
            loss = layers[1](layers[0](x).tanh()).binary_crossentropy_logits(y).backward()
            loss.realize(*optimizer.schedule_step())
            losses.append(float(loss.item()))
    assert losses[-1] < 0.25 * losses[0]


def test_the_learning_rate_can_change() -> None:
    w = Tensor([1.0], requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=1.0)
    with Tensor.train():
        for rate, want in ((0.25, 0.75), (0.5, 0.25)):
            optimizer.lr.assign(Tensor([rate])).realize()
            optimizer.zero_grad()
            w.sum().backward()
            optimizer.step()
            assert w.item() == want


def test_half_parameters_move_in_single_precision() -> None:
    w = Tensor([1.0], dtype="float16", requires_grad=True)
    optimizer = nn.optim.Adam([w], lr=0.1)
    with Tensor.train():
        (w * 2).sum().backward()
        optimizer.step()
    assert w.dtype.name == "float16"
    assert abs(w.item() - 0.9) < 1e-3
    assert optimizer.m[0].dtype.name == "float32"


def test_parameters_without_gradient_stay() -> None:
    a, b = Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=True)
    optimizer = nn.optim.OptimizerGroup(nn.optim.SGD([a, b], lr=0.5))
    with Tensor.train():
        a.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert (a.item(), b.item(), a.grad) == (0.5, 1.0, None)


def test_what_an_optimizer_refuses() -> None:
    w = Tensor([1.0])
    with pytest.raises(GradientError, match="without parameters"):
        nn.optim.SGD([Tensor([1])])
    optimizer = nn.optim.SGD([w])
    assert w.requires_grad
    with pytest.raises(GradientError, match="outside of training"):
        optimizer.step()
    with Tensor.train(), pytest.raises(GradientError, match="no parameter has a gradient"):
        optimizer.step()


@pytest.mark.parametrize("layer", [nn.Conv1d, nn.ConvTranspose1d])
def test_a_kernel_has_as_many_axes_as_the_layer(layer: type[nn.Conv1d]) -> None:
    assert layer(2, 4, (3,)).kernel_size == (3,)
    with pytest.raises(ShapeError, match="a kernel of 2 axes for "):
        layer(2, 4, (3, 3))


def test_an_optimizer_says_how_parameters_move() -> None:
    with pytest.raises(TypeError, match="abstract"):
        nn.optim.Optimizer([Tensor([1.0])], lr=0.1)
