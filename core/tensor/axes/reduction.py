"""Reductions of axes to one value, and running reductions along an axis.

Sums accumulate in `sum_acc_dtype` and are rounded once. Never loops over elements in Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from core.dtype import DTypeLike, dtypes, least_upper_float, sum_acc_dtype, to_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv, prod
from core.tensor.axes.creation import Creation
from core.tensor.calls.origin import here
from core.tensor.views.movement import as_ints
from core.uop.ops import Ops
from core.uop.uop import UOp

Axes = int | Sequence[int] | None

SCAN_BLOCK = 256
"""Running reductions longer than this go in blocks: work n * block instead of n * n."""


class Reduction(Creation):
    """`axis` None means all axes; `keepdim` keeps reduced axes as length 1.

    An axis out of range or named twice raises ShapeError.
    """

    __slots__ = ()

    def _axes(self, axis: Axes) -> tuple[int, ...]:
        if axis is None:
            return tuple(range(self.ndim))
        axes = tuple(self._axis(a) for a in as_ints(axis))
        if len(set(axes)) != len(axes):
            raise ShapeError(
                f"axes {as_ints(axis)} name an axis twice",
                where=here(),
                hint=f"the shape is {self.shape}",
            )
        return axes if self.ndim else ()

    def _reduce(self, op: Ops, axes: tuple[int, ...], keepdim: bool) -> Self:
        result = self._make(self.uop.r(op, axes))
        if keepdim:
            return result
        return result.reshape([n for i, n in enumerate(self.shape) if i not in axes])

    def _accumulate(self, op: Ops, axis: Axes, keepdim: bool, dtype: DTypeLike | None) -> Self:
        wide = sum_acc_dtype(self.dtype) if dtype is None else to_dtype(dtype)
        result = self.cast(wide)._reduce(op, self._axes(axis), keepdim)
        narrow = dtype is None and dtypes.is_float(self.dtype)
        return result.cast(self.dtype) if narrow else result

    def sum(self, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None) -> Self:
        """The sum. Integers and bools give 32 bits or more; `dtype` sets what it accumulates in."""
        return self._accumulate(Ops.ADD, axis, keepdim, dtype)

    def prod(
        self, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike | None = None
    ) -> Self:
        """The product, in dtypes as `sum`."""
        return self._accumulate(Ops.MUL, axis, keepdim, dtype)

    def max(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The largest. Its gradient is shared by equals."""
        return self._reduce(Ops.MAX, self._not_empty("max", self._axes(axis)), keepdim)

    def min(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The smallest."""
        axes = self._not_empty("min", self._axes(axis))
        if dtypes.is_float(self.dtype):
            return -((-self)._reduce(Ops.MAX, axes, keepdim))
        return ~((~self)._reduce(Ops.MAX, axes, keepdim))

    def amax(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """`max`, under the name that it has in PyTorch for several axes."""
        return self.max(axis, keepdim)

    def amin(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """`min`, under the name that it has in PyTorch for several axes."""
        return self.min(axis, keepdim)

    def count_nonzero(self, axis: Axes = None) -> Self:
        """How many elements are not zero, as int32."""
        return self.cast(dtypes.bool).sum(axis)

    def _not_empty(self, name: str, axes: tuple[int, ...]) -> tuple[int, ...]:
        if any(self.shape[a] == 0 for a in axes):
            raise ShapeError(
                f"{name} of no elements",
                where=here(),
                hint=f"the shape is {self.shape}: there is no identity to return",
            )
        return axes

    def any(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """Whether one element is not zero."""
        return self.cast(dtypes.bool)._reduce(Ops.MAX, self._axes(axis), keepdim)

    def all(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """Whether no element is zero."""
        return self.logical_not().any(axis, keepdim).logical_not()

    def allclose(
        self, other: Self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> bool:
        """Whether all elements are close (see `isclose`). Realizes both."""
        return bool(self.isclose(other, rtol, atol, equal_nan).all().item())

    def mean(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """The sum divided by the count, in float32 at least, rounded to the dtype at the end."""
        axes = self._axes(axis)
        dtype = least_upper_float(self.dtype)
        total = self.cast(sum_acc_dtype(dtype))._reduce(Ops.ADD, axes, keepdim)
        return (total / self._count(axes)).cast(dtype)

    def _count(self, axes: tuple[int, ...]) -> int | UOp:
        """How many elements a reduce over `axes` combines; of lengths that are variables, a value
        of these."""
        lengths = {a: n for a, n in self.uop.lengths if a in axes}
        count: int | UOp = prod(self.shape[a] for a in axes if a not in lengths)
        for n in lengths.values():
            count = n * count
        return count

    def var(self, axis: Axes = None, keepdim: bool = False, correction: int = 1) -> Self:
        """The mean square distance from the mean, divided by count - `correction`."""
        return self._variance(axis, keepdim, correction).cast(least_upper_float(self.dtype))

    def _variance(self, axis: Axes, keepdim: bool, correction: int) -> Self:
        """`var`, in the dtype in which it is summed."""
        axes = self._axes(axis)
        x = self.cast(sum_acc_dtype(least_upper_float(self.dtype)))
        squares = (x - x.mean(axes, keepdim=True)).square()._reduce(Ops.ADD, axes, keepdim)
        left = self._count(axes) - correction
        return squares / (left.maximum(0) if isinstance(left, UOp) else max(0, left))

    def std(self, axis: Axes = None, keepdim: bool = False, correction: int = 1) -> Self:
        """The square root of `var`, with gradient 0 where it is 0."""
        var = self._variance(axis, keepdim, correction)
        root = var.sqrt()
        slope = (root == 0).where(0, 0.5 / root)
        return root._with_derivatives((var, slope)).cast(least_upper_float(self.dtype))

    def var_mean(
        self, axis: Axes = None, keepdim: bool = False, correction: int = 1
    ) -> tuple[Self, Self]:
        """(`var`, `mean`)"""
        return self.var(axis, keepdim, correction), self.mean(axis, keepdim)

    def std_mean(
        self, axis: Axes = None, keepdim: bool = False, correction: int = 1
    ) -> tuple[Self, Self]:
        """(`std`, `mean`)"""
        return self.std(axis, keepdim, correction), self.mean(axis, keepdim)

    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The position of the first of the largest, along an axis or in the flat Tensor. NaN counts
        as larger than every number."""
        if axis is None:
            flat = self.flatten().argmax(0)
            return flat.reshape((1,) * self.ndim) if keepdim else flat
        (at,) = self._axes(axis) or (None,)
        if at is None:
            return self._make(self.uop.const_like(0).cast(dtypes.int32))
        count = self.shape[at]
        x = self.detach()
        largest = x == x.max(at, keepdim=True)
        if dtypes.is_float(self.dtype):
            largest = largest | x.isnan()
        backwards = count - self._positions(at)
        return count - (largest.cast(dtypes.int32) * backwards).max(at, keepdim)

    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The position of the first of the smallest; of the first NaN where there is one."""
        flipped = -self if dtypes.is_float(self.dtype) else ~self
        return flipped.argmax(axis, keepdim)

    def logsumexp(self, axis: Axes = None, keepdim: bool = False) -> Self:
        """ln(sum(e ** x)), without overflow."""
        largest = self._shift(self._axes(axis))
        total = (self - largest).exp().sum(axis, keepdim).log()
        return total + (largest if keepdim else largest.reshape(total.shape))

    def _shift(self, axes: tuple[int, ...]) -> Self:
        """The largest along `axes` where it is finite, else 0, without gradient."""
        largest = self._largest(axes)
        return largest.isinf().where(0, largest)

    def _largest(self, axes: Axes) -> Self:
        """The largest along `axes`, which stay; without gradient. Any number where there is none to
        compare."""
        x = self.detach()
        return x.sum(axes, keepdim=True) if not x.uop.size else x.max(axes, keepdim=True)

    def _as_float_of(self, name: str, dtype: DTypeLike | None) -> Self:
        if dtype is None:
            return self._as_float()
        if not dtypes.is_float(to_dtype(dtype)):
            raise DTypeError(f"{name} as {dtype}", where=here(), hint="give a float dtype")
        return self.cast(dtype)

    def softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """e ** x / sum(e ** x) along an axis. Raises DTypeError for a dtype that is no float."""
        x = self._as_float_of("softmax", dtype)
        powers = (x - x._largest(axis)).exp()
        return powers / powers.sum(axis, keepdim=True)

    def log_softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """ln(softmax(x)), without underflow. Raises DTypeError for a dtype that is no float."""
        x = self._as_float_of("log_softmax", dtype)
        shifted = x - x._largest(axis)
        return shifted - shifted.exp().sum(axis, keepdim=True).log()

    def softmin(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """`softmax` of minus this."""
        return (-self._as_float_of("softmin", dtype)).softmax(axis)

    def normalize(self, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Self:
        """This divided by its p-norm along an axis, or by `eps` where that is larger."""
        axis = self._axis(dim)
        return self._wide(lambda x: x / x._norm_over(p, (axis,), True).clamp(eps))

    def _norm_over(self, p: float, axes: tuple[int, ...], keepdim: bool) -> Self:
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
        return root._with_derivatives((total, slope))

    def norm(self, p: float = 2.0, dim: Axes = None, keepdim: bool = False) -> Self:
        """(sum |x| ** p) ** (1 / p) over the axes; the largest |x| for infinity, how many are not 0
        for p = 0. Its gradient is 0 where it is 0."""
        axes = self._axes(dim)
        return self._wide(lambda x: x._norm_over(p, axes, keepdim))

    # running reductions

    def cumsum(self, axis: int = 0) -> Self:
        """The sum of the elements up to each, in dtypes as `sum`."""
        wide = self.cast(sum_acc_dtype(self.dtype))._scan(Ops.ADD, axis)
        return wide.cast(self.dtype) if dtypes.is_float(self.dtype) else wide

    def cumprod(self, axis: int) -> Self:
        """The product of the elements up to each, in dtypes as `sum`."""
        wide = self.cast(sum_acc_dtype(self.dtype))._scan(Ops.MUL, axis)
        return wide.cast(self.dtype) if dtypes.is_float(self.dtype) else wide

    def cummax(self, axis: int = 0) -> tuple[Self, Self]:
        """(the largest of the elements up to each, the last position of it among these)"""
        largest = self._scan(Ops.MAX, axis)
        return largest, self._records(largest, axis)

    def cummin(self, axis: int = 0) -> tuple[Self, Self]:
        """(the smallest of the elements up to each, the last position of it among these)"""
        flipped = self._flipped()
        largest = flipped._scan(Ops.MAX, axis)
        return largest._flipped(), flipped._records(largest, axis)

    def _flipped(self) -> Self:
        """Values in the opposite order."""
        return -self if dtypes.is_float(self.dtype) else ~self

    def _records(self, largest: Self, axis: int) -> Self:
        """The last position up to each at which an element is the largest up to there."""
        at = self._axis(axis)
        if not self.ndim:
            return self._make(self.uop.const_like(0).cast(dtypes.int32)).detach()
        x, known = self.detach(), largest.detach()
        record = x == known
        if dtypes.is_float(self.dtype):
            record = record | x.isnan()
        return record.where(self._positions(at), 0)._scan(Ops.MAX, at)

    def logcumsumexp(self, axis: int = 0) -> Self:
        """ln of the sum of e ** x of the elements up to each, without overflow or underflow."""
        at = self._axis(axis)
        x = self._as_float()
        if not x.ndim or not x.uop.size:
            return x._same_value()
        return x.transpose(at, -1)._log_scan().transpose(at, -1)._as_long_as(self, at)

    def _log_scan(self) -> Self:
        """`logcumsumexp` along the last axis, in blocks as `_scan_last`."""
        n = self.shape[-1]
        if n <= SCAN_BLOCK:
            rows = type(self)._iota(n, self.device).reshape(n, 1)
            columns = type(self)._iota(n, self.device).reshape(1, n)
            wide = self.unsqueeze(-2)._broadcast_to((*self.shape[:-1], n, n))
            return (columns <= rows).where(wide, -math.inf).logsumexp(-1)
        blocks = ceildiv(n, SCAN_BLOCK)
        more = [(0, 0)] * (self.ndim - 1) + [(0, blocks * SCAN_BLOCK - n)]
        split = self._pad_zeros(more).reshape((*self.shape[:-1], blocks, SCAN_BLOCK))
        inside = split._log_scan()
        ends = inside._part(self.ndim, SCAN_BLOCK - 1, SCAN_BLOCK).squeeze(-1)
        before = ends._log_scan()._part(self.ndim - 1, 0, blocks - 1)
        before = before._pad_zeros([(0, 0)] * (self.ndim - 1) + [(1, 0)])
        first = type(self)._iota(blocks, self.device) == 0
        before = first.where(-math.inf, before).unsqueeze(-1)
        whole = inside.logaddexp(before).reshape((*self.shape[:-1], blocks * SCAN_BLOCK))
        return whole._part(self.ndim - 1, 0, n)

    def _scan(self, op: Ops, axis: int) -> Self:
        """The reduction of each prefix of an axis."""
        at = self._axis(axis)
        if not self.ndim:
            return self._same_value()
        scanned = self.transpose(at, -1)._scan_last(op, strict=False).transpose(at, -1)
        return scanned._as_long_as(self, at)

    def _scan_last(self, op: Ops, strict: bool) -> Self:
        """Each element reduces what is before it (and itself unless `strict`) on the last axis.

        Long axes go in blocks, whose totals are scanned in the same way.
        """
        n = self.shape[-1]
        if n <= SCAN_BLOCK:
            return self._prefixes(op, strict)
        blocks = ceildiv(n, SCAN_BLOCK)
        # what is padded comes after all that is kept, so that zeros do for any op
        padded = self._pad_zeros([(0, 0)] * (self.ndim - 1) + [(0, blocks * SCAN_BLOCK - n)])
        split = padded.reshape((*self.shape[:-1], blocks, SCAN_BLOCK))
        before = split._reduce(op, (self.ndim,), keepdim=False)._scan_last(op, strict=True)
        whole = split._prefixes(op, strict)._binary(op, before.unsqueeze(-1))
        return whole.reshape(padded.shape)._part(self.ndim - 1, 0, n)

    def _prefixes(self, op: Ops, strict: bool) -> Self:
        n = self.shape[-1]
        rows = type(self)._iota(n, self.device).reshape(n, 1)
        columns = type(self)._iota(n, self.device).reshape(1, n)
        visible = columns < rows if strict else columns <= rows
        wide = self.unsqueeze(-2)._broadcast_to((*self.shape[:-1], n, n))
        identity = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtypes.min(self.dtype)}[op]
        return visible.where(wide, identity)._reduce(op, (self.ndim,), keepdim=False)
