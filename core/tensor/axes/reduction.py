"""Reductions of axes to one value, and running reductions along an axis.

Sums accumulate in `sum_acc_dtype` and are rounded once. Never loops over elements in Python. `axis`
None means all axes; `keepdim` keeps reduced axes as length 1. An axis out of range or named twice
raises ShapeError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.dtype import DTypeLike, dtypes, least_upper_float, sum_acc_dtype, to_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv
from core.tensor.axes.creation import iota, positions
from core.tensor.elements.elementwise import (
    as_float,
    binary,
    compute_infinite,
    compute_wide,
    with_derivatives,
)
from core.tensor.state.base import axis_of, make, same_value
from core.tensor.views.movement import as_ints, as_long_as, broadcast, pad_zeros, part_of
from core.tensor.views.varying import extent, value
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

Axes = int | Sequence[int] | None

SCAN_BLOCK = 256
"""Running reductions longer than this go in blocks: work n * block instead of n * n."""


def axes_of(self: Tensor, axis: Axes) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(self.ndim))
    axes = tuple(axis_of(self, a) for a in as_ints(axis))
    if len(set(axes)) != len(axes):
        raise ShapeError(
            f"axes {as_ints(axis)} name an axis twice", hint=f"the shape is {self.shape}"
        )
    return axes if self.ndim else ()


def _reduce(self: Tensor, op: Ops, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    result = make(self, self.uop.r(op, axes))
    if keepdim:
        return result
    return result.reshape([n for i, n in enumerate(self.shape) if i not in axes])


def _accumulate(
    self: Tensor, op: Ops, axis: Axes, keepdim: bool, dtype: DTypeLike | None
) -> Tensor:
    wide = sum_acc_dtype(self.dtype) if dtype is None else to_dtype(dtype)
    result = _reduce(self.cast(wide), op, axes_of(self, axis), keepdim)
    narrow = dtype is None and dtypes.is_float(self.dtype)
    return result.cast(self.dtype) if narrow else result


def sum(
    self: Tensor, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """The sum. Integers and bools give 32 bits or more; `dtype` sets what it accumulates in."""
    return _accumulate(self, Ops.ADD, axis, keepdim, dtype)


def prod(
    self: Tensor, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """The product, in dtypes as `sum`."""
    return _accumulate(self, Ops.MUL, axis, keepdim, dtype)


def max(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """The largest. Its gradient is shared by equals."""
    return _reduce(self, Ops.MAX, _not_empty(self, "max", axes_of(self, axis)), keepdim)


def min(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """The smallest."""
    axes = _not_empty(self, "min", axes_of(self, axis))
    if dtypes.is_float(self.dtype):
        return -(_reduce(-self, Ops.MAX, axes, keepdim))
    return ~(_reduce(~self, Ops.MAX, axes, keepdim))


def amax(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """`max`, under the name that it has in PyTorch for several axes."""
    return self.max(axis, keepdim)


def amin(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """`min`, under the name that it has in PyTorch for several axes."""
    return self.min(axis, keepdim)


def count_nonzero(self: Tensor, axis: Axes = None) -> Tensor:
    """How many elements are not zero, as int32."""
    return self.cast(dtypes.bool).sum(axis)


def _not_empty(self: Tensor, name: str, axes: tuple[int, ...]) -> tuple[int, ...]:
    if 0 in [self.shape[a] for a in axes]:
        raise ShapeError(
            f"{name} of no elements",
            hint=f"the shape is {self.shape}: there is no identity to return",
        )
    return axes


def any(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """Whether one element is not zero."""
    return _reduce(self.cast(dtypes.bool), Ops.MAX, axes_of(self, axis), keepdim)


def all(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """Whether no element is zero."""
    return self.logical_not().any(axis, keepdim).logical_not()


def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close (see `isclose`). Realizes both."""
    return bool(self.isclose(other, rtol, atol, equal_nan).all().item())


def mean(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """The sum divided by the count, in float32 at least, rounded to the dtype at the end."""
    axes = axes_of(self, axis)
    dtype = least_upper_float(self.dtype)
    total = _reduce(self.cast(sum_acc_dtype(dtype)), Ops.ADD, axes, keepdim)
    return (total / count_of(self, axes)).cast(dtype)


def count_of(self: Tensor, axes: tuple[int, ...]) -> int | UOp:
    """How many elements a reduce over `axes` combines; of lengths that are variables, a value
    of these."""
    lengths = {a: n for a, n in self.uop.lengths if a in axes}
    count: int | UOp = math.prod(self.shape[a] for a in axes if a not in lengths)
    for n in lengths.values():
        count = n * count
    return count


def var(self: Tensor, axis: Axes = None, keepdim: bool = False, correction: int = 1) -> Tensor:
    """The mean square distance from the mean, divided by count - `correction`."""
    return _variance(self, axis, keepdim, correction).cast(least_upper_float(self.dtype))


def _variance(self: Tensor, axis: Axes, keepdim: bool, correction: int) -> Tensor:
    """`var`, in the dtype in which it is summed."""
    axes = axes_of(self, axis)
    x = self.cast(sum_acc_dtype(least_upper_float(self.dtype)))
    squares = _reduce((x - x.mean(axes, keepdim=True)).square(), Ops.ADD, axes, keepdim)
    left = count_of(self, axes) - correction
    if isinstance(left, UOp):
        return squares / left.maximum(0)
    return squares / (left if left > 0 else 0)


def std(self: Tensor, axis: Axes = None, keepdim: bool = False, correction: int = 1) -> Tensor:
    """The square root of `var`, with gradient 0 where it is 0."""
    var = _variance(self, axis, keepdim, correction)
    root = var.sqrt()
    slope = (root == 0).where(0, 0.5 / root)
    return with_derivatives(root, (var, slope)).cast(least_upper_float(self.dtype))


def var_mean(
    self: Tensor, axis: Axes = None, keepdim: bool = False, correction: int = 1
) -> tuple[Tensor, Tensor]:
    """(`var`, `mean`)"""
    return self.var(axis, keepdim, correction), self.mean(axis, keepdim)


def std_mean(
    self: Tensor, axis: Axes = None, keepdim: bool = False, correction: int = 1
) -> tuple[Tensor, Tensor]:
    """(`std`, `mean`)"""
    return self.std(axis, keepdim, correction), self.mean(axis, keepdim)


def argmax(self: Tensor, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """The position of the first of the largest, along an axis or in the flat Tensor. NaN counts
    as larger than every number."""
    if axis is None:
        flat = self.flatten().argmax(0)
        return flat.reshape((1,) * self.ndim) if keepdim else flat
    (at,) = axes_of(self, axis) or (None,)
    if at is None:
        return make(self, self.uop.const_like(0).cast(dtypes.int32))
    count = self.shape[at]
    if value(extent(self, at)) == 0:
        raise ShapeError(
            f"argmax along axis {at}, which has no elements",
            hint="there is no position to give: look at the length first",
        )
    x = self.detach()
    largest = x == x.max(at, keepdim=True)
    if dtypes.is_float(self.dtype):
        largest = largest | x.isnan()
    backwards = count - positions(self, at)
    return count - (largest.cast(dtypes.int32) * backwards).max(at, keepdim)


def argmin(self: Tensor, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """The position of the first of the smallest; of the first NaN where there is one."""
    flipped = -self if dtypes.is_float(self.dtype) else ~self
    return flipped.argmax(axis, keepdim)


def logsumexp(self: Tensor, axis: Axes = None, keepdim: bool = False) -> Tensor:
    """ln(sum(e ** x)), without overflow."""
    return compute_infinite(as_float(self), lambda x: _logsumexp(x, axis, keepdim))


def _logsumexp(self: Tensor, axis: Axes, keepdim: bool) -> Tensor:
    largest = _shift(self, axes_of(self, axis))
    total = (self - largest).exp().sum(axis, keepdim).log()
    return total + (largest if keepdim else largest.reshape(total.shape))


def _shift(self: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The largest along `axes` where it is finite, else 0, without gradient."""
    largest = _largest(self, axes)
    return largest.isinf().where(0, largest)


def _largest(self: Tensor, axes: Axes) -> Tensor:
    """The largest along `axes`, which stay; without gradient. Any number where there is none to
    compare."""
    x = self.detach()
    return x.sum(axes, keepdim=True) if not x.uop.size else x.max(axes, keepdim=True)


def _as_float_of(self: Tensor, name: str, dtype: DTypeLike | None) -> Tensor:
    if dtype is None:
        return as_float(self)
    if not dtypes.is_float(to_dtype(dtype)):
        raise DTypeError(f"{name} as {dtype}", hint="give a float dtype")
    return self.cast(dtype)


def softmax(self: Tensor, axis: int = -1, dtype: DTypeLike | None = None) -> Tensor:
    """e ** x / sum(e ** x) along an axis. Raises DTypeError for a dtype that is no float."""
    return compute_infinite(_as_float_of(self, "softmax", dtype), lambda x: _softmax(x, axis))


def _softmax(self: Tensor, axis: int) -> Tensor:
    powers = (self - _largest(self, axis)).exp()
    return powers / powers.sum(axis, keepdim=True)


def log_softmax(self: Tensor, axis: int = -1, dtype: DTypeLike | None = None) -> Tensor:
    """ln(softmax(x)), without underflow. Raises DTypeError for a dtype that is no float."""
    x = _as_float_of(self, "log_softmax", dtype)
    return compute_infinite(x, lambda x: _log_softmax(x, axis))


def _log_softmax(self: Tensor, axis: int) -> Tensor:
    shifted = self - _largest(self, axis)
    return shifted - shifted.exp().sum(axis, keepdim=True).log()


def softmin(self: Tensor, axis: int = -1, dtype: DTypeLike | None = None) -> Tensor:
    """`softmax` of minus this."""
    return (-_as_float_of(self, "softmin", dtype)).softmax(axis)


def normalize(self: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """This divided by its p-norm along an axis, or by `eps` where that is larger."""
    axis = axis_of(self, dim)
    return compute_wide(self, lambda x: x / _norm_over(x, p, (axis,), True).clamp(eps))


def _norm_over(self: Tensor, p: float, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    if p == math.inf:
        return self.abs().max(axes, keepdim)
    if p == 0:
        return self.ne(0).cast(self.dtype).sum(axes, keepdim)
    powers = self.square() if p == 2 else self.abs() if p == 1 else self.abs().pow(p)
    total = powers.sum(axes, keepdim)
    if p == 1:
        return total
    root = total.sqrt() if p == 2 else total.pow(1 / p)
    slope = (root == 0).where(0, root / total / p)
    return with_derivatives(root, (total, slope))


def norm(self: Tensor, p: float = 2.0, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """(sum |x| ** p) ** (1 / p) over the axes; the largest |x| for infinity, how many are not 0
    for p = 0. Its gradient is 0 where it is 0."""
    axes = axes_of(self, dim)
    return compute_wide(self, lambda x: _norm_over(x, p, axes, keepdim))


# running reductions


def cumsum(self: Tensor, axis: int = 0) -> Tensor:
    """The sum of the elements up to each, in dtypes as `sum`."""
    wide = _scan(self.cast(sum_acc_dtype(self.dtype)), Ops.ADD, axis)
    return wide.cast(self.dtype) if dtypes.is_float(self.dtype) else wide


def cumprod(self: Tensor, axis: int) -> Tensor:
    """The product of the elements up to each, in dtypes as `sum`."""
    wide = _scan(self.cast(sum_acc_dtype(self.dtype)), Ops.MUL, axis)
    return wide.cast(self.dtype) if dtypes.is_float(self.dtype) else wide


def cummax(self: Tensor, axis: int = 0) -> tuple[Tensor, Tensor]:
    """(the largest of the elements up to each, the last position of it among these)"""
    largest = _scan(self, Ops.MAX, axis)
    return largest, _records(self, largest, axis)


def cummin(self: Tensor, axis: int = 0) -> tuple[Tensor, Tensor]:
    """(the smallest of the elements up to each, the last position of it among these)"""
    flipped = _flipped(self)
    largest = _scan(flipped, Ops.MAX, axis)
    return _flipped(largest), _records(flipped, largest, axis)


def _flipped(self: Tensor) -> Tensor:
    """Values in the opposite order."""
    return -self if dtypes.is_float(self.dtype) else ~self


def _records(self: Tensor, largest: Tensor, axis: int) -> Tensor:
    """The last position up to each at which an element is the largest up to there."""
    at = axis_of(self, axis)
    if not self.ndim:
        return make(self, self.uop.const_like(0).cast(dtypes.int32)).detach()
    x, known = self.detach(), largest.detach()
    record = x == known
    if dtypes.is_float(self.dtype):
        record = record | x.isnan()
    return _scan(record.where(positions(self, at), 0), Ops.MAX, at)


def logcumsumexp(self: Tensor, axis: int = 0) -> Tensor:
    """ln of the sum of e ** x of the elements up to each, without overflow or underflow."""
    at = axis_of(self, axis)
    x = as_float(self)
    if not x.ndim or not x.uop.size:
        return same_value(x)
    scanned = compute_infinite(x.transpose(at, -1), _log_scan)
    return as_long_as(scanned.transpose(at, -1), self, at)


def _log_scan(self: Tensor) -> Tensor:
    """`logcumsumexp` along the last axis, in blocks as `_scan_last`."""
    n = self.shape[-1]
    if n <= SCAN_BLOCK:
        rows = iota(type(self), n, self.device).reshape(n, 1)
        columns = iota(type(self), n, self.device).reshape(1, n)
        wide = broadcast(self.unsqueeze(-2), (*self.shape[:-1], n, n))
        return (columns <= rows).where(wide, -math.inf).logsumexp(-1)
    blocks = ceildiv(n, SCAN_BLOCK)
    more = [(0, 0)] * (self.ndim - 1) + [(0, blocks * SCAN_BLOCK - n)]
    split = pad_zeros(self, more).reshape((*self.shape[:-1], blocks, SCAN_BLOCK))
    inside = _log_scan(split)
    ends = part_of(inside, self.ndim, SCAN_BLOCK - 1, SCAN_BLOCK).squeeze(-1)
    before = part_of(_log_scan(ends), self.ndim - 1, 0, blocks - 1)
    before = pad_zeros(before, [(0, 0)] * (self.ndim - 1) + [(1, 0)])
    first = iota(type(self), blocks, self.device) == 0
    before = first.where(-math.inf, before).unsqueeze(-1)
    whole = inside.logaddexp(before).reshape((*self.shape[:-1], blocks * SCAN_BLOCK))
    return part_of(whole, self.ndim - 1, 0, n)


def _scan(self: Tensor, op: Ops, axis: int) -> Tensor:
    """The reduction of each prefix of an axis."""
    at = axis_of(self, axis)
    if not self.ndim:
        return same_value(self)
    scanned = _scan_last(self.transpose(at, -1), op, strict=False).transpose(at, -1)
    return as_long_as(scanned, self, at)


def _scan_last(self: Tensor, op: Ops, strict: bool) -> Tensor:
    """Each element reduces what is before it (and itself unless `strict`) on the last axis.

    Long axes go in blocks, whose totals are scanned in the same way.
    """
    n = self.shape[-1]
    if n <= SCAN_BLOCK:
        return _prefixes(self, op, strict)
    blocks = ceildiv(n, SCAN_BLOCK)
    # what is padded comes after all that is kept, so that zeros do for any op
    padded = pad_zeros(self, [(0, 0)] * (self.ndim - 1) + [(0, blocks * SCAN_BLOCK - n)])
    split = padded.reshape((*self.shape[:-1], blocks, SCAN_BLOCK))
    before = _scan_last(_reduce(split, op, (self.ndim,), keepdim=False), op, strict=True)
    whole = binary(_prefixes(split, op, strict), op, before.unsqueeze(-1))
    return part_of(whole.reshape(padded.shape), self.ndim - 1, 0, n)


def _prefixes(self: Tensor, op: Ops, strict: bool) -> Tensor:
    n = self.shape[-1]
    rows = iota(type(self), n, self.device).reshape(n, 1)
    columns = iota(type(self), n, self.device).reshape(1, n)
    visible = columns < rows if strict else columns <= rows
    wide = broadcast(self.unsqueeze(-2), (*self.shape[:-1], n, n))
    identity = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtypes.min(self.dtype)}[op]
    return _reduce(visible.where(wide, identity), op, (self.ndim,), keepdim=False)
