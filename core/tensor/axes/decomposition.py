"""Factors of matrices: orthogonal times triangular, and singular values.

Both are a fixed number of steps of products, so that nothing looks at values; each step is stored,
so that the next one does not compute it again. Of the last two axes. Integers become floats, halves
are computed in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from core.errors import ShapeError
from core.tensor.axes.creation import iota
from core.tensor.elements.elementwise import as_float, compute_wide
from core.tensor.views.movement import broadcast, pad_zeros, part_of

if TYPE_CHECKING:
    from core.tensor import Tensor

SWEEPS: Final = 8
"""How often all pairs of columns are turned, at least: after that float32 holds no more, for up to
16 columns. Twice as many columns take one more."""


def _matrices(self: Tensor, name: str) -> tuple[Tensor, int, int]:
    if self.ndim < 2 or 0 in self.shape[-2:]:
        raise ShapeError(
            f"{name} of a Tensor of {self.shape}",
            hint="it takes matrices, with one row and column at least",
        )
    return as_float(self), self.shape[-2], self.shape[-1]


def qr(self: Tensor) -> tuple[Tensor, Tensor]:
    """(Q, R) of matrices (..., m, n): Q (..., m, m) is orthogonal, R (..., m, n) upper
    triangular, and Q @ R is this. By reflections (A. Householder, Unitary triangularization of
    a nonsymmetric matrix, 1958). Raises ShapeError for what is no matrix."""
    x, m, n = _matrices(self, "qr")

    def reflected(r: Tensor) -> Tensor:
        """R and the transpose of Q, side by side."""
        rows = iota(type(r), m, r.device)
        unit = (rows.unsqueeze(1) == rows).cast(r.dtype)
        both = r.cat(broadcast(unit, (*r.shape[:-2], m, m)), dim=-1)
        for k in range(min(m - 1, n)):
            column = (rows >= k).where(part_of(both, both.ndim - 1, k, k + 1).squeeze(-1), 0)
            size = column.square().sum(-1, keepdim=True).sqrt()
            first = part_of(column, column.ndim - 1, k, k + 1)
            v = column + (rows == k).where((first < 0).where(-size, size), 0)
            length = v.square().sum(-1, keepdim=True)
            scaled = v * (length == 0).where(0, 2 / length)
            along = v.unsqueeze(-2).matmul(both)
            both = (both - scaled.unsqueeze(-1) * along).contiguous()
        return both

    both = compute_wide(x, reflected)
    last = both.ndim - 1
    return part_of(both, last, n, n + m).transpose(), part_of(both, last, 0, n).triu()


def svd(self: Tensor, full_matrices: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) of matrices (..., m, n), with S (..., min(m, n)) not negative and falling, and
    orthogonal U (..., m, m) and V (..., n, n): this is U[:, :k] @ diag(S) @ V[:k] for
    k = min(m, n). Without `full_matrices` U and V are cut to that.

    By rotations of pairs of columns (M. Hestenes, Inversion of matrices by biorthogonalization
    and related results, 1958). Raises ShapeError for what is no matrix.
    """
    x, m, n = _matrices(self, "svd")
    if m < n:
        v, s, u = x.transpose().svd(full_matrices)
        return u.transpose(), s, v.transpose()
    unit = iota(type(x), n, x.device)
    start = broadcast((unit.unsqueeze(1) == unit).cast(x.dtype), (*x.shape[:-2], n, n))
    scale = x.abs().max((-2, -1), keepdim=True)  # so that fourth powers are in range
    scale = (scale == 0).where(1, scale)
    both = compute_wide((x / scale).cat(start, dim=-2), lambda a: _orthogonal(a, m))
    last = both.ndim - 1
    columns, turned = part_of(both, last - 1, 0, m), part_of(both, last - 1, m, m + n)
    sizes, order = columns.square().sum(-2).sqrt().sort(-1, descending=True)
    there = order.unsqueeze(-2)
    columns = columns.gather(-1, broadcast(there, columns.shape))
    turned = turned.gather(-1, broadcast(there, turned.shape))
    factor = sizes.unsqueeze(-2)
    q, r = (columns / (factor == 0).where(1, factor)).qr()  # which fills in for columns of 0
    signs = (r.diagonal(0, r.ndim - 2, r.ndim - 1) < 0).where(-1, 1).cast(q.dtype)
    u = part_of(q, last, 0, n) * signs.unsqueeze(-2)
    if full_matrices and m > n:
        u = u.cat(part_of(q, last, n, m), dim=-1)
    return u, sizes * scale.squeeze(-1), turned.transpose()


def _orthogonal(self: Tensor, rows: int) -> Tensor:
    """With columns that were turned in pairs until the first `rows` of each are orthogonal to
    those of all others. In a round each column is in one pair: the first stays where it is, the
    others go round, so that all have met after a sweep."""
    n = self.shape[-1]
    axis = self.ndim - 1
    count = n + n % 2
    x = pad_zeros(self, [(0, 0)] * axis + [(0, count - n)])
    half = count // 2
    sweeps = SWEEPS + max(0, math.ceil(math.log2(count)) - 4)
    for _ in range(sweeps * (count - 1)):
        p, q = part_of(x, axis, 0, half), part_of(x, axis, half, count)
        a, b = part_of(p, axis - 1, 0, rows), part_of(q, axis - 1, 0, rows)
        product = (a * b).sum(-2, keepdim=True)
        more = (b.square() - a.square()).sum(-2, keepdim=True)
        twice = 2 * product
        root = (more.square() + twice.square()).sqrt()
        slope = twice / ((more < 0).where(more - root, more + root))
        slope = (product == 0).where(0, slope)
        cosine = (1 + slope.square()).rsqrt()
        p, q = (p - q * slope) * cosine, (p * slope + q) * cosine
        if half > 1:
            middle, final = part_of(p, axis, 1, half - 1), part_of(p, axis, half - 1, half)
            others = part_of(q, axis, 0, 1), middle, part_of(q, axis, 1, half), final
            x = part_of(p, axis, 0, 1).cat(*others, dim=-1).contiguous()
        else:
            x = p.cat(q, dim=-1).contiguous()
    return part_of(x, axis, 0, n)
