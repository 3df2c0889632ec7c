"""The backward pass of flash attention: three kernels, without sums between work groups.

The first gives each query the sum of its output times its gradient. The second has a work group for
each block of keys, which goes through the queries; the third one for each block of queries, which
goes through the keys. Both compute the probabilities anew (T. Dao, "FlashAttention-2", 2023,
algorithm 2, with its loops in two kernels).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.dtype import DType, DTypeLike, dtypes, to_dtype
from core.helpers import ceildiv
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.kernels.attention import ROWS, Shape, blocks
from core.tile.tiles import GL
from core.uop.uop import UOp


@dataclass(frozen=True)
class Backward:
    """The kernels, in the order in which they run.

    `delta`: delta, o, do; `keys`: dk, dv, q, k, v, do, l, delta; `queries`: dq, q, k, v, do, l,
    delta. Matrices are [batch, heads, length, size]; l, what `attention` gives, and delta are
    float32 of [batch, heads, 1, length].
    """

    delta: UOp
    keys: UOp
    queries: UOp


def attention_backward(
    batch: int,
    heads: int,
    length: int,
    size: int,
    target: Target | str,
    causal: bool = False,
    dtype: DTypeLike = dtypes.float16,
    warps: int = 4,
    keys: int = 32,
) -> Backward:
    """The kernels that compute dq, dk and dv of `attention` with the same arguments."""
    shape = Shape(batch, heads, length, size, causal, warps, keys)
    kind = to_dtype(dtype)
    return Backward(
        _delta(shape, target, kind), _of_keys(shape, target, kind), _of_queries(shape, target, kind)
    )


def _matrices(ker: Kernel, shape: Shape, dtype: DType, count: int) -> list[GL]:
    sizes = shape.batch, shape.heads, shape.length, shape.size
    return [ker.gl(dtype, sizes) for _ in range(count)]


def _rows(ker: Kernel, shape: Shape) -> GL:
    return ker.gl(dtypes.float32, (shape.batch, shape.heads, 1, shape.length))


def _delta(shape: Shape, target: Target | str, dtype: DType) -> UOp:
    with Kernel(shape.name("attention_delta"), shape.grid(), shape.warps, target) as ker:
        delta = _rows(ker, shape)
        o, do = _matrices(ker, shape, dtype, 2)
        o_r, do_r = (ker.rt(dtypes.float32, (ROWS, shape.size), "acc") for _ in range(2))
        sums = ker.rv(dtypes.float32, o_r)
        ker.group.load(o_r, o[ker.gz, ker.gy, ker.gx, 0])
        ker.group.load(do_r, do[ker.gz, ker.gy, ker.gx, 0])
        ker.group.map(o_r, lambda x, d: x * d, o_r, do_r)
        ker.group.row_reduce(sums, o_r)
        ker.group.store(delta[ker.gz, ker.gy, 0, ker.gx], sums)
    return ker.ast


def _of_keys(shape: Shape, target: Target | str, dtype: DType) -> UOp:
    """Rows of a work group are keys; columns are queries: scores are transposed."""
    size, queries, wide = shape.size, shape.keys, dtypes.float32
    scale = shape.scale * math.log2(math.e)
    with Kernel(shape.name("attention_keys"), shape.grid(), shape.warps, target) as ker:
        dk, dv, q, k, v, do = _matrices(ker, shape, dtype, 6)
        l, delta = _rows(ker, shape), _rows(ker, shape)  # noqa: E741
        q_s, do_s = ker.st(dtype, (queries, size)), ker.st(dtype, (queries, size))
        k_r, v_r = ker.rt(dtype, (ROWS, size)), ker.rt(dtype, (ROWS, size))
        by_row, by_column = ker.rt(dtype, (queries, size)), ker.rt(dtype, (queries, size), "col")
        p, ds = (ker.rt(wide, (ROWS, queries), "acc") for _ in range(2))
        left = ker.rt(dtype, (ROWS, queries))
        dk_r, dv_r = (ker.rt(wide, (ROWS, size), "acc") for _ in range(2))
        l_r, delta_r = ker.rv(wide, p, "column"), ker.rv(wide, p, "column")
        b, h, first = ker.gz, ker.gy, ker.gx * shape.rows
        ker.group.load(k_r, k[b, h, ker.gx, 0])
        ker.group.load(v_r, v[b, h, ker.gx, 0])
        ker.group.zero(dk_r)
        ker.group.zero(dv_r)
        skipped = first // queries if shape.causal else first * 0
        for step in ker.range(ceildiv(shape.length, queries) - skipped):
            i = step + skipped
            ker.group.load(q_s, q[b, h, i, 0])
            ker.group.load(do_s, do[b, h, i, 0])
            ker.group.load(l_r, l[b, h, 0, i])
            ker.group.load(delta_r, delta[b, h, 0, i])
            ker.warp.load(by_row, q_s)
            ker.group.zero(p)
            ker.group.mma_ABt(p, k_r, by_row)
            ker.group.map_indexed(
                p,
                lambda x, sums, key, query, r, c: shape.visible(c + query, r + key).where(
                    (x * scale - sums).exp2(), 0.0
                ),
                p,
                l_r,
                first,
                i * queries,
            )
            ker.group.copy(left, p)
            ker.warp.load(by_column, do_s)
            ker.group.mma_AB(dv_r, left, by_column)
            ker.warp.load(by_row, do_s)
            ker.group.zero(ds)
            ker.group.mma_ABt(ds, v_r, by_row)
            ker.group.map(ds, lambda x, p, d: p * (x - d), ds, p, delta_r)
            ker.group.copy(left, ds)
            ker.warp.load(by_column, q_s)
            ker.group.mma_AB(dk_r, left, by_column)
        ker.group.map(dk_r, lambda x: x * shape.scale)
        ker.group.store(dk[b, h, ker.gx, 0], dk_r)
        ker.group.store(dv[b, h, ker.gx, 0], dv_r)
    return ker.ast


def _of_queries(shape: Shape, target: Target | str, dtype: DType) -> UOp:
    size, keys, wide = shape.size, shape.keys, dtypes.float32
    scale = shape.scale * math.log2(math.e)
    with Kernel(shape.name("attention_queries"), shape.grid(), shape.warps, target) as ker:
        dq, q, k, v, do = _matrices(ker, shape, dtype, 5)
        l, delta = _rows(ker, shape), _rows(ker, shape)  # noqa: E741
        k_s, v_s = ker.st(dtype, (keys, size)), ker.st(dtype, (keys, size))
        q_r, do_r = ker.rt(dtype, (ROWS, size)), ker.rt(dtype, (ROWS, size))
        by_row, by_column = ker.rt(dtype, (keys, size)), ker.rt(dtype, (keys, size), "col")
        p, ds = (ker.rt(wide, (ROWS, keys), "acc") for _ in range(2))
        left = ker.rt(dtype, (ROWS, keys))
        dq_r = ker.rt(wide, (ROWS, size), "acc")
        l_r, delta_r = ker.rv(wide, p), ker.rv(wide, p)
        b, h, first = ker.gz, ker.gy, ker.gx * shape.rows
        ker.group.load(q_r, q[b, h, ker.gx, 0])
        ker.group.load(do_r, do[b, h, ker.gx, 0])
        ker.group.load(l_r, l[b, h, 0, ker.gx])
        ker.group.load(delta_r, delta[b, h, 0, ker.gx])
        ker.group.zero(dq_r)
        for j in ker.range(blocks(shape, first)):
            ker.group.load(k_s, k[b, h, j, 0])
            ker.group.load(v_s, v[b, h, j, 0])
            ker.warp.load(by_row, k_s)
            ker.group.zero(p)
            ker.group.mma_ABt(p, q_r, by_row)
            ker.group.map_indexed(
                p,
                lambda x, sums, query, key, r, c: shape.visible(r + query, c + key).where(
                    (x * scale - sums).exp2(), 0.0
                ),
                p,
                l_r,
                first,
                j * keys,
            )
            ker.warp.load(by_row, v_s)
            ker.group.zero(ds)
            ker.group.mma_ABt(ds, do_r, by_row)
            ker.group.map(ds, lambda x, p, d: p * (x - d), ds, p, delta_r)
            ker.group.copy(left, ds)
            ker.warp.load(by_column, k_s)
            ker.group.mma_AB(dq_r, left, by_column)
        ker.group.map(dq_r, lambda x: x * shape.scale)
        ker.group.store(dq[b, h, ker.gx, 0], dq_r)
    return ker.ast
