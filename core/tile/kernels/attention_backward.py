"""The backward pass of flash attention: three kernels, without sums between work groups.

The first gives each query the sum of its output times its gradient. The second has a work group for
each block of keys, which goes through the queries; the third one for each block of queries, which
goes through the keys. Both compute the probabilities anew (T. Dao, "FlashAttention-2", 2023,
algorithm 2, with its loops in two kernels).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import dtypes
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.kernels.attention import ROWS, AttentionShape
from core.tile.kernels.blocks import in_blocks
from core.tile.sizes import as_index, blocks
from core.tile.tiles import RT, RV
from core.uop.uop import UOp


@dataclass(frozen=True)
class Backward:
    """The kernels, in the order in which they run.

    `delta`: delta, o, do; `keys`: dk, dv, q, k, v, do, sums, delta; `queries`: dq, q, k, v, do,
    sums, delta. Matrices are [batch, heads, rows, size]; sums, what `attention` gives, and delta
    are float32 of [batch, heads, 1, length].
    """

    delta: UOp
    keys: UOp
    queries: UOp


def attention_backward(shape: AttentionShape, target: Target | str) -> Backward:
    """The kernels that compute dq, dk and dv of `attention` with the same arguments."""
    return Backward(
        attention_delta(shape, target),
        attention_keys(shape, target),
        attention_queries(shape, target),
    )


def attention_delta(shape: AttentionShape, target: Target | str) -> UOp:
    """`Backward.delta`."""
    with shape.kernel("attention_delta", shape.length, target) as ker:
        delta = ker.gl(dtypes.float32, shape.sums())
        o, do = (ker.gl(shape.dtype, shape.of_queries()) for _ in range(2))
        o_r, do_r = (ker.rt(dtypes.float32, (ROWS, shape.size), "acc") for _ in range(2))
        sums = ker.rv(dtypes.float32, o_r)
        ker.group.load(o_r, o[ker.gz, ker.gy, ker.gx, 0])
        ker.group.load(do_r, do[ker.gz, ker.gy, ker.gx, 0])
        ker.group.map(o_r, lambda x, d: x * d, o_r, do_r)
        ker.group.row_reduce(sums, o_r)
        ker.group.store(delta[ker.gz, ker.gy, 0, ker.gx], sums)
    return ker.ast


def attention_keys(shape: AttentionShape, target: Target | str) -> UOp:
    """`Backward.keys`. Rows of a work group are keys; columns are queries: scores are
    transposed."""
    size, queries, dtype, wide = shape.size, shape.columns, shape.dtype, dtypes.float32
    with shape.kernel("attention_keys", shape.keys, target) as ker:
        dk, dv = (ker.gl(dtype, shape.of_keys()) for _ in range(2))
        q, k, v = (ker.gl(dtype, s()) for s in (shape.of_queries, shape.of_keys, shape.of_keys))
        do = ker.gl(dtype, shape.of_queries())
        sums, delta = (ker.gl(wide, shape.sums()) for _ in range(2))
        # not kept in registers: with heads of 128, dk and dv take half of those that a thread has
        k_s, v_s = ker.st(dtype, (shape.rows, size)), ker.st(dtype, (shape.rows, size))
        k_r, v_r = ker.rt(dtype, (ROWS, size)), ker.rt(dtype, (ROWS, size))
        by_row, by_column = ker.rt(dtype, (queries, size)), ker.rt(dtype, (queries, size), "col")
        p, ds = (ker.rt(wide, (ROWS, queries), "acc") for _ in range(2))
        left = ker.rt(dtype, (ROWS, queries))
        dk_r, dv_r = (ker.rt(wide, (ROWS, size), "acc") for _ in range(2))
        l_r, delta_r = ker.rv(wide, p, "column"), ker.rv(wide, p, "column")
        b, h, first = ker.gz, ker.gy, ker.gx * shape.rows
        ker.group.load(k_s, k[b, h, ker.gx, 0])
        ker.group.load(v_s, v[b, h, ker.gx, 0])
        ker.group.zero(dk_r)
        ker.group.zero(dv_r)
        skipped = first // queries if shape.causal else first * 0
        count = (as_index(blocks(shape.length, queries)) - skipped).maximum(0)
        for i, q_s, do_s in in_blocks(ker, (q, do), (b, h), queries, count, skipped):
            ker.group.load(l_r, sums[b, h, 0, i])
            ker.group.load(delta_r, delta[b, h, 0, i])
            ker.warp.load(by_row, q_s)
            ker.group.load(k_r, k_s)
            _probabilities(ker, shape, p, k_r, by_row, l_r, first, i * queries, turned=True)
            ker.group.copy(left, p)
            ker.warp.load(by_column, do_s)
            ker.group.mma_AB(dv_r, left, by_column)
            ker.warp.load(by_row, do_s)
            ker.group.load(v_r, v_s)
            _slopes(ker, ds, v_r, by_row, p, delta_r)
            ker.group.copy(left, ds)
            ker.warp.load(by_column, q_s)
            ker.group.mma_AB(dk_r, left, by_column)
        ker.group.map(dk_r, lambda x: x * shape.scale)
        ker.group.store(dk[b, h, ker.gx, 0], dk_r)
        ker.group.store(dv[b, h, ker.gx, 0], dv_r)
    return ker.ast


def attention_queries(shape: AttentionShape, target: Target | str) -> UOp:
    """`Backward.queries`."""
    size, keys, dtype, wide = shape.size, shape.columns, shape.dtype, dtypes.float32
    with shape.kernel("attention_queries", shape.length, target) as ker:
        dq, q = (ker.gl(dtype, shape.of_queries()) for _ in range(2))
        k, v = (ker.gl(dtype, shape.of_keys()) for _ in range(2))
        do = ker.gl(dtype, shape.of_queries())
        sums, delta = (ker.gl(wide, shape.sums()) for _ in range(2))
        q_r, do_r = ker.rt(dtype, (ROWS, size)), ker.rt(dtype, (ROWS, size))
        by_row, by_column = ker.rt(dtype, (keys, size)), ker.rt(dtype, (keys, size), "col")
        p, ds = (ker.rt(wide, (ROWS, keys), "acc") for _ in range(2))
        left = ker.rt(dtype, (ROWS, keys))
        dq_r = ker.rt(wide, (ROWS, size), "acc")
        l_r, delta_r = ker.rv(wide, p), ker.rv(wide, p)
        b, h, first = ker.gz, ker.gy, ker.gx * shape.rows
        ker.group.load(q_r, q[b, h, ker.gx, 0])
        ker.group.load(do_r, do[b, h, ker.gx, 0])
        ker.group.load(l_r, sums[b, h, 0, ker.gx])
        ker.group.load(delta_r, delta[b, h, 0, ker.gx])
        ker.group.zero(dq_r)
        for j, k_s, v_s in in_blocks(ker, (k, v), (b, h), keys, shape.seen(first)):
            ker.warp.load(by_row, k_s)
            _probabilities(ker, shape, p, q_r, by_row, l_r, first, j * keys, turned=False)
            ker.warp.load(by_row, v_s)
            _slopes(ker, ds, do_r, by_row, p, delta_r)
            ker.group.copy(left, ds)
            ker.warp.load(by_column, k_s)
            ker.group.mma_AB(dq_r, left, by_column)
        ker.group.map(dq_r, lambda x: x * shape.scale)
        ker.group.store(dq[b, h, ker.gx, 0], dq_r)
    return ker.ast


def _probabilities(
    ker: Kernel, shape: AttentionShape, p: RT, rows: RT, columns: RT, sums: RV,
    first_row: UOp, first_column: UOp, turned: bool,
) -> None:  # fmt: skip
    """p = 2 ** (scale rows columns^T - sums), 0 where a query does not see a key. Rows of p are
    queries and columns are keys, or (`turned`) the other way round."""

    def power(x: UOp, sum_: UOp, row: UOp, column: UOp, r: UOp, c: UOp) -> UOp:
        at = (c + column, r + row) if turned else (r + row, c + column)
        return shape.visible(*at).where((x * shape.scale2 - sum_).exp2(), 0.0)

    ker.group.zero(p)
    ker.group.mma_ABt(p, rows, columns)
    ker.group.map_indexed(p, power, p, sums, first_row, first_column)


def _slopes(ker: Kernel, ds: RT, rows: RT, columns: RT, p: RT, delta: RV) -> None:
    """ds = p (rows columns^T - delta): the gradients of scores."""
    ker.group.zero(ds)
    ker.group.mma_ABt(ds, rows, columns)
    ker.group.map(ds, lambda x, p, d: p * (x - d), ds, p, delta)
