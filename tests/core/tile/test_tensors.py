"""Tile kernels are called on Tensors, and gradients flow through them."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, dtypes
from core.target import Target
from core.tile import kernels
from core.uop.uop import UOp
from tests.core.tile.cases import numbers


@pytest.mark.parametrize("device", ["PTX:EMU:sm_80", "AMD:EMU"])
def test_products_of_tensors_and_their_gradients(device: str) -> None:
    a, b = (numbers(32, 32, dtype=dtypes.float16, seed=i) for i in range(2))

    def build(target: Target, *_: object) -> UOp:
        return kernels.matmul(32, 32, 32, target, warps=2, tile=(32, 32, 32))

    def product(x: Tensor, y: Tensor) -> Tensor:
        return Tensor.call_kernel(
            build, x, y, outputs=((32, 32), dtypes.float32), backward=backward
        )

    def backward(grads: list[Tensor], inputs: list[Tensor], _: object) -> list[Tensor]:
        x, y = inputs
        grad = grads[0].half()
        return [product(grad, y.T.contiguous()).half(), product(x.T.contiguous(), grad).half()]

    x, y = (Tensor(v, device=device, dtype=dtypes.float16, requires_grad=True) for v in (a, b))
    out = product(x, y)
    out.sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(x.grad.numpy(), np.ones((32, 32)) @ b.T, rtol=1e-2, atol=2e-2)
    np.testing.assert_allclose(y.grad.numpy(), a.T @ np.ones((32, 32)), rtol=1e-2, atol=2e-2)
