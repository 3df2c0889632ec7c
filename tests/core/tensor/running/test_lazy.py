"""LAZY=0: each operation on a Tensor is computed when it is called."""

from __future__ import annotations

import numpy as np

from core import Context, Tensor
from core.uop.ops import Ops


def test_each_operation_is_computed_at_once() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    with Context(LAZY=0):
        y = (x.T @ x).softmax(-1)
        assert y.uop.base.op is Ops.BUFFER
        assert not y.schedule()
        part = y[0]
        part += 1
    np.testing.assert_allclose(y.numpy()[0], part.numpy())


def test_gradients_flow_through_what_was_computed() -> None:
    grads: list[list[float]] = []
    for lazy in (0, 1):
        x = Tensor([1.0, -2.0, 3.0], requires_grad=True)
        with Context(LAZY=lazy):
            (x.relu() * x.exp()).sum().backward()
        assert x.grad is not None
        grads.append(x.grad.tolist())
    np.testing.assert_allclose(grads[0], grads[1])
