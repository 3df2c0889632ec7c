"""Factors of matrices: orthogonal times triangular, and singular values.

Both are a fixed number of steps of products, so that nothing looks at values. A step is a kernel,
the same one for all steps, and its gradient is that of the step in Tensors. Values on several
devices, and of a length that is a variable, take the steps in Tensors, each stored. Of the last two
axes. Integers become floats, halves are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from core.errors import ShapeError
from core.gradients.gradient import gradients
from core.tensor.axes.creation import iota
from core.tensor.axes.indexing.scattering import can_write
from core.tensor.elements.elementwise import as_float, compute_wide
from core.tensor.running.kernels import row_major
from core.tensor.state.base import make, tensor_of
from core.tensor.views.movement import broadcast, pad_zeros, part_of
from core.uop.call.factorkernels import reflection_kernel, rotation_kernel
from core.uop.call.kernelcall import KernelCall, Parameter, called_kernel
from core.uop.uop import UOp

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
        steps = min(m - 1, n)
        step = UOp.variable("step", 0, max(1, steps - 1))
        for k in range(steps):
            both = _stepped(both, _Reflection(m, step.bind(k)))
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
    sweeps = SWEEPS + max(0, math.ceil(math.log2(count)) - 4)
    for _ in range(sweeps * (count - 1)):
        x = _stepped(x, _Rotations(rows))
    return part_of(x, axis, 0, n)


@dataclass(frozen=True, slots=True)
class _Reflection:
    """The step that makes column `k` 0 below its element `k`."""

    rows: int
    k: UOp
    """A bound variable, so that steps are the same kernels."""

    def __call__(self, x: Tensor) -> Tensor:
        k = tensor_of(type(x), self.k)
        rows, columns = (iota(type(x), n, x.device) for n in (self.rows, x.shape[-1]))
        column = (rows >= k).where((columns == k).where(x, 0).sum(-1), 0)
        size = column.square().sum(-1, keepdim=True).sqrt()
        first = (rows == k).where(column, 0).sum(-1, keepdim=True)
        v = column + (rows == k).where((first < 0).where(-size, size), 0)
        length = v.square().sum(-1, keepdim=True)
        scaled = v * (length == 0).where(0, 2 / length)
        return x - scaled.unsqueeze(-1) * v.unsqueeze(-2).matmul(x)

    def kernel(self, out: Parameter, x: Parameter) -> tuple[UOp, list[UOp]]:
        return _reflection(self.rows, out, x, self.k.src[0]), [self.k]


@dataclass(frozen=True, slots=True)
class _Rotations:
    """The round that turns all pairs of columns, whose first `rows` are made orthogonal."""

    rows: int

    def __call__(self, x: Tensor) -> Tensor:
        axis, half = x.ndim - 1, x.shape[-1] // 2
        p, q = part_of(x, axis, 0, half), part_of(x, axis, half, 2 * half)
        a, b = part_of(p, axis - 1, 0, self.rows), part_of(q, axis - 1, 0, self.rows)
        product = (a * b).sum(-2, keepdim=True)
        more = (b.square() - a.square()).sum(-2, keepdim=True)
        twice = 2 * product
        root = (more.square() + twice.square()).sqrt()
        slope = twice / ((more < 0).where(more - root, more + root))
        slope = (product == 0).where(0, slope)
        cosine = (1 + slope.square()).rsqrt()
        p, q = (p - q * slope) * cosine, (p * slope + q) * cosine
        if half == 1:
            return p.cat(q, dim=-1)
        middle, final = part_of(p, axis, 1, half - 1), part_of(p, axis, half - 1, half)
        others = part_of(q, axis, 0, 1), middle, part_of(q, axis, 1, half), final
        return part_of(p, axis, 0, 1).cat(*others, dim=-1)

    def kernel(self, out: Parameter, x: Parameter) -> tuple[UOp, list[UOp]]:
        return _rotation(self.rows, out, x), []


_reflection = lru_cache(maxsize=256)(reflection_kernel)
_rotation = lru_cache(maxsize=256)(rotation_kernel)


def _stepped(x: Tensor, step: _Reflection | _Rotations) -> Tensor:
    """A matrix after a step."""
    if not can_write(x):
        return step(x).contiguous()
    device = x.uop.device
    assert isinstance(device, str)
    kind = x.shape, x.dtype
    parameters = Parameter(0, *kind), Parameter(1, *kind)
    kernel, binds = step.kernel(*parameters)
    call = KernelCall(kernel, (kind,))
    (made,) = called_kernel(call, device, [row_major(x.uop, device)], binds)
    return make(x, made.derivative_by(_Gradient(type(x), step), x.uop))


@dataclass(frozen=True, slots=True)
class _Gradient:
    """The gradient of a step: that of the step in Tensors."""

    cls: type[Tensor]
    step: _Reflection | _Rotations

    def __repr__(self) -> str:
        return f"the gradient of {self.step}"

    def __call__(self, grad: UOp, sources: Sequence[UOp]) -> list[UOp | None]:
        (x,) = sources
        made = self.step(tensor_of(self.cls, x))
        given = tensor_of(self.cls, grad).contiguous().uop  # so that steps are the same kernels
        return [gradients(made.uop, given, [x]).get(x)]
