"""A product and a softmax written with tiles, and a product that the compiler tiles itself, on the
emulator of PTX."""

from __future__ import annotations

import numpy as np

from core import Tensor, dtypes
from core.target import Target
from core.tile import kernels
from core.uop.uop import UOp

DEVICE = "PTX:EMU"


def product(target: Target, *_: object) -> UOp:
    """A tile kernel: two stages of shared tiles, three register tiles."""
    return kernels.matmul(64, 64, 64, target)


def softmax(target: Target, *_: object) -> UOp:
    """A tile kernel with vectors of rows."""
    return kernels.softmax(64, 64, target)


random = np.random.default_rng(0)
a, b = (
    Tensor(random.random((64, 64)), device=DEVICE, dtype=dtypes.float16).realize() for _ in "ab"
)
c = Tensor.call_kernel(product, a, b, outputs=((64, 64), dtypes.float32))
print(c.numpy().sum())
print(Tensor.call_kernel(softmax, c, outputs=((64, 64), dtypes.float32)).numpy().sum())
print(a.matmul(b, dtype=dtypes.float32).numpy().sum())
