"""A product of matrices with double-buffered shared memory.

While warps multiply one part of K, the next one goes to the other half of the shared tiles, so
there is one barrier for each part. Where the target copies asynchronously, that part is on its way
during the product and takes no registers; elsewhere it is loaded after it.
"""

from __future__ import annotations

from core.dtype import DTypeLike, dtypes
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.sizes import Size, blocks, named
from core.uop.uop import UOp


def matmul(
    m: Size,
    n: Size,
    k: Size,
    target: Target | str,
    dtype: DTypeLike = dtypes.float16,
    out: DTypeLike = dtypes.float32,
    warps: int = 4,
    tile: tuple[int, int, int] = (64, 64, 32),
    tf32: bool | None = None,
) -> UOp:
    """c[m, n] = a[m, k] b[k, n]; arguments: c, a, b. A work group computes `tile[0]` x `tile[1]`
    elements of c, `tile[2]` steps of the sum at a time; rows are shared out between warps."""
    tile_m, tile_n, tile_k = tile
    grid = blocks(n, tile_n), blocks(m, tile_m)
    summed = dtypes.int32 if dtype in dtypes.ints else dtypes.float32
    with Kernel(named("matmul", m, n, k), grid, warps, target, tf32) as ker:
        c, a, b = ker.gl(out, (m, n)), ker.gl(dtype, (m, k)), ker.gl(dtype, (k, n))
        a_s = ker.st(dtype, (tile_m, tile_k), stages=2)
        b_s = ker.st(dtype, (tile_k, tile_n), stages=2)
        a_r = ker.rt(dtype, (tile_m // warps, tile_k))
        b_r = ker.rt(dtype, (tile_k, tile_n), "col")
        total = ker.rt(summed, (tile_m // warps, tile_n), "acc")
        later = ker.copies(a_s, a) and ker.copies(b_s, b)

        def fetch(i: int | UOp) -> None:
            ker.group.load(a_s[i % 2], a[ker.gy, i], asynchronous=later)
            ker.group.load(b_s[i % 2], b[i, ker.gx], asynchronous=later)

        ker.group.zero(total)
        fetch(0)
        for i in ker.range(blocks(k, tile_k)):
            if later:
                ker.wait()
                fetch(i + 1)
            ker.group.load(a_r, a_s[i % 2])
            ker.warp.load(b_r, b_s[i % 2])
            ker.group.mma_AB(total, a_r, b_r)
            if not later:
                fetch(i + 1)
        ker.group.store(c[ker.gy, ker.gx], total)
    return ker.ast
