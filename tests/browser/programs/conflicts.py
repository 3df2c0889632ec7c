"""A kernel whose shared tile is read by columns without a swizzle, so that its lanes meet in a few
banks; and one without shared memory."""

from __future__ import annotations

import numpy as np

from core import Tensor, dtypes, tile
from core.target import Target
from core.uop.uop import UOp

DEVICE = "PTX:EMU"


def columns(target: Target, *_: object) -> UOp:
    """Copies a matrix through a shared tile that is not swizzled."""
    with tile.Kernel("columns", target=target) as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32, 32))
        held, part = ker.st(dtypes.float, (32, 32), swizzle=False), ker.rt(dtypes.float, (32, 32))
        ker.warp.load(held, x)
        ker.warp.load(part, held)
        ker.warp.store(y, part)
    return ker.ast


x = Tensor(np.arange(1024, dtype=np.float32).reshape(32, 32), device=DEVICE)
copied = Tensor.call_kernel(columns, x, outputs=((32, 32), dtypes.float32))
print(copied.numpy().sum())
print((copied + 1).max().tolist())
