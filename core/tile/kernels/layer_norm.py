"""Layer normalization of the rows of a matrix, with a weight and a bias for each column."""

from __future__ import annotations

from core.dtype import DTypeLike, dtypes
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.sizes import Size, as_index, blocks, named
from core.uop.ops import Ops
from core.uop.uop import UOp


def layer_norm(
    rows: Size,
    columns: Size,
    target: Target | str,
    dtype: DTypeLike = dtypes.float32,
    eps: float = 1e-5,
    warps: int = 4,
    width: int = 64,
) -> UOp:
    """y = (x - mean) / sqrt(variance + eps) * weight + bias along rows; arguments: y, x of [rows,
    columns], weight, bias of [columns]. The variance is that of all elements, from their distances
    to the mean. Each warp has 16 rows, and `width` columns of them at once."""
    grid, count = (blocks(rows, 16 * warps),), as_index(columns)
    with Kernel(named("layer_norm", rows, columns), grid, warps, target) as ker:
        y, x = ker.gl(dtype, (rows, columns)), ker.gl(dtype, (rows, columns))
        weight, bias = ker.gl(dtype, (columns,)), ker.gl(dtype, (columns,))
        part = ker.rt(dtypes.float32, (16, width), "acc")
        mean, scale = ker.rv(dtypes.float32, part), ker.rv(dtypes.float32, part)
        w, b = (ker.rv(dtypes.float32, part, "column") for _ in range(2))
        steps = blocks(columns, width)
        share = count.cast(dtypes.float32).recip()
        ker.group.zero(mean)
        for i in ker.range(steps):
            ker.group.load(part, x[ker.gx, i])
            ker.group.row_reduce(mean, part, Ops.ADD, accumulate=True)
        ker.group.map(mean, lambda s, n: s * n, mean, share)
        ker.group.zero(scale)
        for i in ker.range(steps):
            ker.group.load(part, x[ker.gx, i])
            ker.group.map_indexed(
                part,
                lambda v, m, first, n, _, c: (c + first < n).where((v - m) * (v - m), 0.0),
                part,
                mean,
                i * width,
                count,
            )
            ker.group.row_reduce(scale, part, Ops.ADD, accumulate=True)
        ker.group.map(scale, lambda s, n: (s * n + eps).sqrt().recip(), scale, share)
        for i in ker.range(steps):
            ker.group.load(part, x[ker.gx, i])
            ker.group.load(w, weight[i])
            ker.group.load(b, bias[i])
            ker.group.map(part, lambda v, m, s, w, b: (v - m) * s * w + b, part, mean, scale, w, b)
            ker.group.store(y[ker.gx, i], part)
    return ker.ast
