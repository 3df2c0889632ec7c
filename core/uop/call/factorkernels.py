"""Steps of factorizations of matrices as kernels: a reflection, and a round of rotations.

Every step of one factorization is the same kernel, so it is compiled once, however many there are.
Knows nothing of Tensors.
"""

from __future__ import annotations

from collections.abc import Callable

from core.helpers import prod
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.uop import UOp


def reflection_kernel(rows: int, out: Parameter, x: Parameter, k: UOp) -> UOp:
    """Matrices (..., rows, n) reflected so that column `k` is 0 below its element `k`."""
    at, loops = _loops(out)
    *batch, r, j = at

    def column(i: UOp) -> UOp:
        inside = (i < k.cast(i.dtype)).logical_not()
        return inside.where(x[(*batch, i, k)].load(), 0.0)

    size = _sum(rows, len(loops), lambda i: column(i) * column(i)).sqrt()
    first = x[(*batch, k, k)].load()
    shift = (first < 0.0).where(-size, size)

    def normal(i: UOp) -> UOp:
        return column(i) + i.eq(k.cast(i.dtype)).where(shift, 0.0)

    length = _sum(rows, len(loops) + 1, lambda i: normal(i) * normal(i))
    nothing = length.eq(0.0)
    factor = nothing.where(length.const_like(0.0), length.const_like(2.0) / length)
    along = _sum(rows, len(loops) + 2, lambda i: normal(i) * x[(*batch, i, j)].load())
    return _stored(out, at, loops, x[tuple(at)].load() - factor * normal(r) * along)


def rotation_kernel(rows: int, out: Parameter, x: Parameter) -> UOp:
    """Columns of matrices (..., m, 2 * half) turned in pairs, i and half + i, until the first
    `rows` of the two are orthogonal. Then the first column stays and the others go round by one
    place, so that after 2 * half - 1 rounds each has met each."""
    at, loops = _loops(out)
    *batch, r, c = at
    half = out.shape[-1] // 2
    zero = c.const_like(0)
    second = c.eq(1)
    pair = (c < 2).where(zero, c - 1)
    if half > 1:
        back = (c < half).logical_not() & (c < 2 * half - 1)
        second = second | back
        last = c.eq(2 * half - 1)
        pair = (c < 2).where(
            zero, back.where(c - (half - 1), last.where(c.const_like(half - 1), c - 1))
        )
        pair = pair.maximum(0).minimum(half - 1)
    else:
        pair = zero

    def p(i: UOp) -> UOp:
        return x[(*batch, i, pair)].load()

    def q(i: UOp) -> UOp:
        return x[(*batch, i, pair + half)].load()

    product = _sum(rows, len(loops), lambda i: p(i) * q(i))
    more = _sum(rows, len(loops) + 1, lambda i: q(i) * q(i) - p(i) * p(i))
    twice = product * 2.0
    root = (more * more + twice * twice).sqrt()
    slope = twice / (more < 0.0).where(more - root, more + root)
    slope = product.eq(0.0).where(slope.const_like(0.0), slope)
    cosine = (slope * slope + 1.0).sqrt().recip()
    return _stored(out, at, loops, second.where(p(r) * slope + q(r), p(r) - q(r) * slope) * cosine)


def _loops(out: Parameter) -> tuple[list[UOp], list[UOp]]:
    """The place on each axis, and the loops: one over all matrices, one over columns, one over
    rows."""
    count = prod(out.shape[:-2])
    matrix, column, row = (
        UOp.range(count, 0),
        UOp.range(out.shape[-1], 1),
        UOp.range(out.shape[-2], 2),
    )
    batch, left = list[UOp](), matrix
    for n in reversed(out.shape[:-2]):
        batch.insert(0, left % n)
        left = left // n
    return [*batch, row, column], [matrix, column, row]


def _sum(n: int, number: int, value: Callable[[UOp], UOp]) -> UOp:
    i = UOp.range(n, number, AxisType.REDUCE)
    return value(i).reduce(Ops.ADD, i)


def _stored(out: Parameter, at: list[UOp], loops: list[UOp], value: UOp) -> UOp:
    return UOp.sink(out[tuple(at)].store(value).end(*loops), arg=KernelInfo())
