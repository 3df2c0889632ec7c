"""Optimizers, learning rates, medians, quantiles and differences against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from core import Tensor, nn
from core.errors import DTypeError, ShapeError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
X = RNG.integers(-4, 5, (4, 5)).astype(np.float32)
HOLES = np.where(RNG.random((4, 5)) < 0.2, np.nan, X).astype(np.float32)

OPTIMIZERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("RMSprop", {}, {}),
    ("RMSprop", {"alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.1}, {}),
    ("Adagrad", {}, {}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}, {}),
    ("NAdam", {}, {}),
    ("NAdam", {"weight_decay": 0.1, "momentum_decay": 0.02}, {}),
]


@pytest.mark.parametrize(("name", "options", "_"), OPTIMIZERS, ids=str)
def test_optimizers(name: str, options: dict[str, Any], _: dict[str, Any]) -> None:
    mine = Tensor(X, requires_grad=True)
    other = torch.from_numpy(X.copy()).requires_grad_()
    own = getattr(nn.optim, name)([mine], lr=0.05, **options)
    theirs = getattr(torch.optim, name)([other], lr=0.05, **options)
    with Tensor.train():
        for k in range(5):
            own.zero_grad()
            theirs.zero_grad()
            ((mine - k).square() * 0.5).sum().backward()
            ((other - k).square() * 0.5).sum().backward()
            own.step()
            theirs.step()
            np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=2e-5, atol=2e-5)


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": lambda n: 1 / (1 + n)}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.5, "end_factor": 0.1, "total_iters": 6}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
]


def optimizers() -> tuple[Any, Any]:
    return (
        nn.optim.SGD([Tensor(X, requires_grad=True)], lr=0.5),
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=[name for name, _ in SCHEDULES])
def test_learning_rates(name: str, options: dict[str, Any]) -> None:
    mine, other = optimizers()
    own = getattr(nn.lr_scheduler, name)(mine, **options)
    theirs = getattr(torch.optim.lr_scheduler, name)(other, **options)
    for _ in range(12):
        assert own.get_last_lr() == pytest.approx(theirs.get_last_lr(), abs=1e-7)
        assert mine.lr.item() == pytest.approx(other.param_groups[0]["lr"], abs=1e-7)
        own.step()
        theirs.step()


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize(
    "options", [{}, {"cooldown": 2, "threshold": 0.2, "threshold_mode": "abs"}]
)
def test_plateaus(mode: str, options: dict[str, Any]) -> None:
    mine, other = optimizers()
    more = {"patience": 1, "factor": 0.5, **options}
    own = nn.lr_scheduler.ReduceLROnPlateau(mine, mode, **more)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(other, mode, **more)
    for figure in (3, 2, 2.1, 2.05, 2.2, 1.9, 1.9, 1.9, 2.5, 1, 4, 4, 4, 4):
        own.step(figure)
        theirs.step(figure)
        assert mine.lr.item() == pytest.approx(other.param_groups[0]["lr"])


@pytest.mark.parametrize(
    "x", [X, HOLES, X[:, :4], X.astype(np.int32)], ids=["odd", "nan", "even", "int"]
)
def test_medians(x: Array) -> None:
    mine, other = Tensor(x), torch.from_numpy(x)
    np.testing.assert_array_equal(mine.median().numpy(), other.median().numpy())
    for axis in (0, -1):
        values, places = mine.median(axis)
        wanted = other.median(axis)
        np.testing.assert_array_equal(values.numpy(), wanted.values.numpy())
        picked = np.take_along_axis(x, np.expand_dims(places.numpy(), axis), axis).squeeze(axis)
        np.testing.assert_array_equal(picked, wanted.values.numpy())
        kept = mine.median(axis, keepdim=True)[0]
        assert kept.shape == tuple(other.median(axis, keepdim=True).values.shape)


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles(how: str) -> None:
    for x in (X, HOLES):
        mine, other = Tensor(x, requires_grad=True), torch.from_numpy(x.copy()).requires_grad_()
        for q in (0.0, 0.3, 0.5, 1.0, [0.25, 0.75]):
            part = q if isinstance(q, float) else torch.tensor(q)
            for axis in (None, 0, 1):
                got = mine.quantile(q, axis, keepdim=axis == 1, interpolation=how)
                want = other.quantile(part, axis, keepdim=axis == 1, interpolation=how)
                np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=1e-5)


def test_gradients_of_ranks() -> None:
    x = RNG.permutation(20).reshape(4, 5).astype(np.float32)
    calls: list[Callable[[Any], Any]] = [
        lambda t: t.quantile(0.3, 1), lambda t: t.median(), lambda t: t.diff(2, 0) ** 2,
    ]  # fmt: skip
    for call in calls:
        mine, other = Tensor(x, requires_grad=True), torch.from_numpy(x.copy()).requires_grad_()
        call(mine).sum().backward()
        call(other).sum().backward()
        assert mine.grad is not None
        assert other.grad is not None
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-5)


def test_differences() -> None:
    for x in (X, X.astype(np.int8), X > 0):
        for n in range(4):
            for axis in (0, 1):
                got = Tensor(x).diff(n, axis)
                want = torch.from_numpy(x).diff(n, axis) if n else torch.from_numpy(x)
                np.testing.assert_array_equal(got.numpy(), want.numpy())
    more = Tensor(X).diff(1, 1, Tensor(X[:, :2]), Tensor(X[:, :1])).numpy()
    y = torch.from_numpy(X)
    np.testing.assert_array_equal(more, y.diff(1, 1, y[:, :2], y[:, :1]).numpy())


def test_bytes_are_resampled() -> None:
    """PyTorch rounds after each axis: one apart at most."""
    x = RNG.integers(0, 256, (2, 3, 5, 6)).astype(np.uint8)
    for align in (False, True):
        got = Tensor(x).interpolate((7, 4), align_corners=align).numpy()
        options: dict[str, Any] = {"mode": "bilinear", "align_corners": align}
        want = torch.nn.functional.interpolate(torch.from_numpy(x), (7, 4), **options).numpy()
        assert got.dtype == want.dtype
        assert np.abs(got.astype(int) - want.astype(int)).max() <= 1


def test_windows_of_nothing() -> None:
    for step in (1, 2, 3, 5):
        want = torch.from_numpy(X).unfold(1, 0, step)
        assert Tensor(X).unfold(1, 0, step).shape == tuple(want.shape)


def test_what_is_refused() -> None:
    x = Tensor(X)
    with pytest.raises(DTypeError, match="quantile of int32"):
        x.int().quantile(0.5)
    with pytest.raises(ShapeError, match=r"quantile at \[1.5\]"):
        x.quantile(1.5)
    with pytest.raises(DTypeError, match="unknown interpolation"):
        x.quantile(0.5, interpolation="cubic")
    with pytest.raises(ShapeError, match="median of no elements"):
        x[:0].median()
    with pytest.raises(ShapeError, match="diff -1 times"):
        x.diff(-1)
    with pytest.raises(DTypeError, match="step_size of 0"):
        nn.lr_scheduler.StepLR(optimizers()[0], 0)


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles_beside_infinities(how: Any) -> None:
    x = np.array([[1, np.inf, -np.inf, 2, 3], [4, np.inf, 6, 5, 7]], np.float32)
    for q in (0.0, 0.2, 0.25, 0.45, 0.7, 0.9, 1.0):
        with np.errstate(invalid="ignore"):
            expected = np.quantile(x, q, axis=1, method=how)
        have = Tensor(x).quantile(q, axis=1, interpolation=how).numpy()
        wrong = np.isnan(expected)  # NumPy goes from an infinity to itself
        np.testing.assert_allclose(have[~wrong], expected[~wrong], rtol=1e-6, err_msg=f"at {q}")
