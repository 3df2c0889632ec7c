"""Flash attention: softmax(q k^T scale) v without the matrix of scores in memory.

T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention: fast and memory-efficient exact
attention with IO-awareness", 2022; loops as in T. Dao, "FlashAttention-2", 2023. Powers are of 2:
scores are multiplied by log2(e) with the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.errors import ShapeError
from core.target import Target
from core.tile.kernel import Kernel
from core.tile.kernels.blocks import in_blocks
from core.tile.sizes import Size, as_index, blocks, named
from core.uop.ops import Ops
from core.uop.uop import UOp

ROWS = 16
"""Rows of scores that a warp computes at once."""


@dataclass(frozen=True)
class AttentionShape:
    """Attention of `length` queries to `context` keys (by default as many), of `size` elements
    each, in `batch` x `heads` matrices of `dtype`; with `causal` query i sees the keys 0 .. i only.
    A work group has `warps` warps, of 16 rows each, and takes `columns` columns of scores at a
    time.

    Raises ShapeError for a size of heads or a number of columns that is no multiple of 16.
    """

    batch: int
    heads: int
    length: Size
    size: int
    causal: bool = False
    dtype: DType = dtypes.float16
    context: Size | None = None
    warps: int = 4
    columns: int = 32

    def __post_init__(self) -> None:
        if self.size % 16 or self.columns % 16:
            raise ShapeError(
                f"attention with heads of {self.size}, {self.columns} columns at a time",
                hint="both are multiples of 16",
            )

    @property
    def keys(self) -> Size:
        """How many keys there are."""
        return self.length if self.context is None else self.context

    @property
    def rows(self) -> int:
        """Rows that a work group has at once."""
        return ROWS * self.warps

    @property
    def scale(self) -> float:
        """What scores are multiplied by, before powers of e are taken of them."""
        return 1.0 / math.sqrt(self.size)

    @property
    def scale2(self) -> float:
        """What scores are multiplied by, before powers of 2 are taken of them."""
        return self.scale * math.log2(math.e)

    def of_queries(self) -> tuple[int, int, Size, Size]:
        """The shape of what has a row for each query."""
        return self.batch, self.heads, self.length, self.size

    def of_keys(self) -> tuple[int, int, Size, Size]:
        """The shape of what has a row for each key."""
        return self.batch, self.heads, self.keys, self.size

    def sums(self) -> tuple[int, int, Size, Size]:
        """The shape of what has a number for each query."""
        return self.batch, self.heads, 1, self.length

    def kernel(self, what: str, rows: Size, target: Target | str) -> Kernel:
        """A kernel with a work group for every `self.rows` of the rows of each matrix."""
        lengths = [self.length, *([] if self.context is None else [self.context])]
        name = named(what, self.batch, self.heads, *lengths, self.size)
        grid = blocks(rows, self.rows), self.heads, self.batch
        return Kernel(name + "_causal" * self.causal, grid, self.warps, target)

    def visible(self, query: UOp, key: UOp) -> UOp:
        """Whether a query sees a key: of vectors of their numbers."""
        inside = key < as_index(self.keys).cast(key.dtype.scalar()).broadcast(key.dtype.count)
        return inside & (key <= query) if self.causal else inside

    def seen(self, first: UOp) -> Size:
        """How many blocks of keys the queries of a work group, from `first` on, see."""
        every = blocks(self.keys, self.columns)
        if not self.causal:
            return every
        return as_index(blocks(first + self.rows, self.columns)).minimum(as_index(every))


def attention(shape: AttentionShape, target: Target | str) -> UOp:
    """o = softmax(q k^T / sqrt(size)) v; arguments: o, sums, q, k, v, all of [batch, heads, rows,
    size] but for sums.

    sums of [batch, heads, 1, length], float32, become the logarithm, to base 2, of each row's sum
    of powers, for the backward pass.
    """
    dtype, wide, size, keys = shape.dtype, dtypes.float32, shape.size, shape.columns
    with shape.kernel("attention", shape.length, target) as ker:
        o, sums = ker.gl(dtype, shape.of_queries()), ker.gl(wide, shape.sums())
        q, k, v = (ker.gl(dtype, s()) for s in (shape.of_queries, shape.of_keys, shape.of_keys))
        q_r, k_r = ker.rt(dtype, (ROWS, size)), ker.rt(dtype, (keys, size))
        v_r, p_r = ker.rt(dtype, (keys, size), "col"), ker.rt(dtype, (ROWS, keys))
        s = ker.rt(wide, (ROWS, keys), "acc")
        total = ker.rt(wide, (ROWS, size), "acc")
        most, before, powers = (ker.rv(wide, s) for _ in range(3))
        b, h, first = ker.gz, ker.gy, ker.gx * shape.rows
        ker.group.load(q_r, q[b, h, ker.gx, 0])
        ker.group.neg_inf(most)
        ker.group.zero(powers)
        ker.group.zero(total)
        for j, k_s, v_s in in_blocks(ker, (k, v), (b, h), keys, shape.seen(first)):
            ker.warp.load(k_r, k_s)
            ker.group.zero(s)
            ker.group.mma_ABt(s, q_r, k_r)
            ker.group.map_indexed(
                s,
                lambda x, row, key, r, c: shape.visible(r + row, c + key).where(
                    x * shape.scale2, -math.inf
                ),
                s,
                first,
                j * keys,
            )
            ker.group.copy(before, most)
            ker.group.row_reduce(most, s, Ops.MAX, accumulate=True)
            ker.group.map(s, lambda x, top: (x - top).exp2(), s, most)
            ker.group.map(before, lambda old, new: (old - new).exp2(), before, most)
            ker.group.map(powers, lambda x, less: x * less, powers, before)
            ker.group.row_reduce(powers, s, Ops.ADD, accumulate=True)
            ker.group.map(total, lambda x, less: x * less, total, before)
            ker.group.copy(p_r, s)
            ker.warp.load(v_r, v_s)
            ker.group.mma_AB(total, p_r, v_r)
        ker.group.map(total, lambda x, sum_: x / sum_, total, powers)
        ker.group.map(most, lambda top, sum_: top + sum_.log2(), most, powers)
        ker.group.store(o[b, h, ker.gx, 0], total)
        ker.group.store(sums[b, h, 0, ker.gx], most)
    return ker.ast
