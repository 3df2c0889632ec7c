"""Flash attention: softmax(q k^T scale) v without the matrix of scores in memory.

T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention: fast and memory-efficient exact
attention with IO-awareness", 2022; loops as in T. Dao, "FlashAttention-2", 2023. Powers are of 2:
scores are multiplied by log2(e) with the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.dtype import DTypeLike, dtypes
from core.errors import ShapeError
from core.helpers import ceildiv
from core.target import Target
from core.tile.kernel import Kernel
from core.uop.ops import Ops
from core.uop.uop import UOp

ROWS = 16
"""Rows of scores that a warp computes at once."""


@dataclass(frozen=True)
class Shape:
    """Attention of `length` queries to as many keys, of `size` elements each, in `batch` x `heads`
    matrices; with `causal` a query sees the keys up to its own place only. `keys` are taken at a
    time. Raises ShapeError for sizes that are no multiple of 16."""

    batch: int
    heads: int
    length: int
    size: int
    causal: bool
    warps: int
    keys: int

    def __post_init__(self) -> None:
        if self.size % 16 or self.keys % 16:
            raise ShapeError(
                f"attention with heads of {self.size}, {self.keys} keys at a time",
                hint="both are multiples of 16",
            )

    @property
    def rows(self) -> int:
        """Rows that a work group has at once."""
        return ROWS * self.warps

    @property
    def scale(self) -> float:
        """What scores are multiplied by, before powers of e are taken of them."""
        return 1.0 / math.sqrt(self.size)

    def name(self, what: str) -> str:
        """The name of a kernel."""
        causal = "_causal" if self.causal else ""
        return f"{what}_{self.batch}_{self.heads}_{self.length}_{self.size}{causal}"

    def grid(self) -> tuple[int, int, int]:
        """A work group for every `rows` rows of each matrix."""
        return ceildiv(self.length, self.rows), self.heads, self.batch

    def visible(self, query: UOp, key: UOp) -> UOp:
        """Whether a query sees a key: of vectors of their numbers."""
        inside = key < self.length
        return inside & (key <= query) if self.causal else inside


def attention(
    batch: int,
    heads: int,
    length: int,
    size: int,
    target: Target | str,
    causal: bool = False,
    dtype: DTypeLike = dtypes.float16,
    warps: int = 4,
    keys: int = 32,
) -> UOp:
    """o = softmax(q k^T / sqrt(size)) v of [batch, heads, length, size]; arguments: o, l, q, k, v.

    l of [batch, heads, 1, length] becomes the logarithm, to base 2, of each row's sum of powers,
    for the backward pass.
    """
    shape = Shape(batch, heads, length, size, causal, warps, keys)
    scale = shape.scale * math.log2(math.e)
    with Kernel(shape.name("attention"), shape.grid(), warps, target) as ker:
        matrix, wide = (batch, heads, length, size), dtypes.float32
        o, l = ker.gl(dtype, matrix), ker.gl(wide, (batch, heads, 1, length))  # noqa: E741
        q, k, v = (ker.gl(dtype, matrix) for _ in range(3))
        k_s, v_s = ker.st(dtype, (keys, size)), ker.st(dtype, (keys, size))
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
        for j in ker.range(blocks(shape, first)):
            ker.group.load(k_s, k[b, h, j, 0])
            ker.group.load(v_s, v[b, h, j, 0])
            ker.warp.load(k_r, k_s)
            ker.group.zero(s)
            ker.group.mma_ABt(s, q_r, k_r)
            ker.group.map_indexed(
                s,
                lambda x, row, key, r, c: shape.visible(r + row, c + key).where(
                    x * scale, -math.inf
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
        ker.group.store(l[b, h, 0, ker.gx], most)
    return ker.ast


def blocks(shape: Shape, first: UOp) -> int | UOp:
    """How many blocks of keys the queries from `first` on see."""
    every = ceildiv(shape.length, shape.keys)
    if not shape.causal:
        return every
    seen = (first + (shape.rows + shape.keys - 1)) // shape.keys
    return seen.minimum(every)
