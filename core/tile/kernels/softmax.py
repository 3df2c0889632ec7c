"""Softmax along the rows of a matrix, of any length, that is read twice."""

from __future__ import annotations

import math

from core.dtype import DTypeLike, dtypes
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.sizes import Size, blocks, named
from core.uop.ops import Ops
from core.uop.uop import UOp

LOG2E = math.log2(math.e)


def softmax(
    rows: Size,
    columns: Size,
    target: Target | str,
    dtype: DTypeLike = dtypes.float32,
    warps: int = 4,
    width: int = 64,
) -> UOp:
    """y = softmax(x) of [rows, columns] along the columns; arguments: y, x. Each warp has 16 rows,
    and `width` columns of them at once.

    The first pass keeps the largest element so far and the sum of powers relative to it (M. Milakov
    and N. Gimelshein, "Online normalizer calculation for softmax", 2018).
    """
    grid = (blocks(rows, 16 * warps),)
    with Kernel(named("softmax", rows, columns), grid, warps, target) as ker:
        y, x = ker.gl(dtype, (rows, columns)), ker.gl(dtype, (rows, columns))
        part = ker.rt(dtypes.float32, (16, width), "acc")
        most, before, total = (ker.rv(dtypes.float32, part) for _ in range(3))
        ker.group.neg_inf(most)
        ker.group.zero(total)
        steps = blocks(columns, width)
        for i in ker.range(steps):
            ker.group.load(part, x[ker.gx, i], fill=-math.inf)
            ker.group.map(part, lambda v: v * LOG2E)
            ker.group.copy(before, most)
            ker.group.row_reduce(most, part, Ops.MAX, accumulate=True)
            ker.group.map(total, lambda s, old, new: s * (old - new).exp2(), total, before, most)
            ker.group.map(part, lambda v, top: (v - top).exp2(), part, most)
            ker.group.row_reduce(total, part, Ops.ADD, accumulate=True)
        for i in ker.range(steps):
            ker.group.load(part, x[ker.gx, i])
            ker.group.map(part, lambda v, top, s: (v * LOG2E - top).exp2() / s, part, most, total)
            ker.group.store(y[ker.gx, i], part)
    return ker.ast
