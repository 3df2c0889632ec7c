"""A matrix copied through shared memory, converted to another dtype on the way."""

from __future__ import annotations

from core.dtype import DTypeLike, dtypes
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.sizes import Size, blocks, named
from core.uop.uop import UOp


def copy(
    rows: Size,
    columns: Size,
    target: Target | str,
    dtype: DTypeLike = dtypes.float32,
    out: DTypeLike | None = None,
    warps: int = 4,
    tile: tuple[int, int] = (32, 64),
) -> UOp:
    """out[rows, columns] = x[rows, columns]; arguments: out, x. A work group copies one `tile`."""
    grid = blocks(columns, tile[1]), blocks(rows, tile[0])
    with Kernel(named("copy", rows, columns), grid, warps, target) as ker:
        y = ker.gl(dtype if out is None else out, (rows, columns))
        x = ker.gl(dtype, (rows, columns))
        held = ker.st(dtype, tile)
        ker.group.load(held, x[ker.gy, ker.gx])
        ker.group.store(y[ker.gy, ker.gx], held)
    return ker.ast
