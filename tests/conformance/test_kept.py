"""Gradients of values that were computed before `backward`, as PyTorch has them: it keeps how each
value was computed, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from core.errors import GradientError

X = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, -3.0], [1.0, -0.5, 0.25]], np.float32)
STEPS: dict[str, Any] = {
    "square": lambda y, x: y * y * 0.5,
    "times": lambda y, x: y * x,
    "plus": lambda y, x: y + x,
    "matmul": lambda y, x: (y @ x) * 0.5,
    "turned": lambda y, x: (y + 1).T,
    "stored": lambda y, x: (y * 0.9).T.contiguous(),
    "sum": lambda y, x: y.sum(1, keepdim=True).expand(3, 3) * 0.5,
    "max": lambda y, x: y - y.max(),
    "row": lambda y, x: y[1:2] + y[:, 2:] * 2,
    "softmax": lambda y, x: y.softmax(1),
    "detached": lambda y, x: y.detach() * x + y,
    "add in place": lambda y, x: add(y + 1, x),
    "set a row": lambda y, x: set_row(y + 1, x[0] * 2),
    "set a column": lambda y, x: set_row((y * 3).T, 0.5).T,
    "twice in place": lambda y, x: set_row(add(y - 1, y * x), x[2]),
}
"""Functions of a value and the leaf, the same for both."""


def add(y: Any, x: Any) -> Any:
    y = done(y)
    y += x
    return done(y)


def set_row(y: Any, value: Any) -> Any:
    y = done(y)
    y[1] = value
    return done(y)


def done(y: Any) -> Any:
    """Computes one of ours."""
    return y.realize() if isinstance(y, Tensor) else y


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), min_size=1, max_size=5))
def test_chains_of_stored_values(steps: list[tuple[str, bool]]) -> None:
    leaves: list[Any] = [
        Tensor(X, requires_grad=True),
        torch.tensor(X, requires_grad=True),
    ]
    found: list[tuple[Any, Any]] = []
    for x in leaves:
        y = x * 1.5
        for name, stores in steps:
            y = STEPS[name](y, x)
            if stores:
                done(y)
        loss = done((y * y * 0.1).sum())
        loss.backward()
        found.append((loss.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        scale = max(1.0, float(np.abs(theirs).max()))
        np.testing.assert_allclose(ours / scale, theirs / scale, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("what", ["leaf", "data that is multiplied", "data that is added"])
def test_what_is_changed_before_backward(what: str) -> None:
    """Both refuse where the old values are needed. PyTorch asks for these alone; here, a leaf that
    was changed is no leaf of what was computed before, even where its value plays no part."""
    refused: list[bool] = []
    grads: list[Any] = []
    for make, error in ((Tensor, GradientError), (torch.tensor, RuntimeError)):
        x: Any = make(X, requires_grad=True)
        data: Any = make(X + 1)
        done(data)
        y = done(x * x if what == "leaf" else x * data if "multiplied" in what else x + data)
        with Tensor.no_grad(), torch.no_grad():
            if what == "leaf":
                x += 1
            else:
                data += 1
        done(x), done(data)
        try:
            y.sum().backward()
        except error:
            refused.append(True)
        else:
            refused.append(False)
            grads.append(x.grad.numpy())
    assert refused[0] == refused[1] == (what != "data that is added")
    if grads:
        np.testing.assert_allclose(*grads)


def test_training_with_values_stored_on_the_way() -> None:
    found: list[list[float]] = []
    for make in (Tensor, torch.tensor):
        w: Any = make(X, requires_grad=True)
        losses: list[float] = []
        for _ in range(4):
            hidden = done((make(X) @ w).relu())
            loss = done((hidden @ w).square().mean())
            losses.append(loss.item())
            w.grad = None
            loss.backward()
            with Tensor.no_grad(), torch.no_grad():
                w -= w.grad * 0.01
        found.append(losses)
    np.testing.assert_allclose(*found, rtol=1e-4)
