"""Windows that slide over the last axes and become one number each, and the way back.

Windows are those of `convolution.py`; nothing here moves elements by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self, overload

from core.dtype import ConstType, dtypes
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv, prod
from core.tensor.calls.origin import here
from core.tensor.neural.convolution import Convolution, Sizes, per_axis
from core.uop.uop import UOp


class Pooling(Convolution):
    """Shapes are (..., *space); the kernel's length says how many axes space has."""

    __slots__ = ()

    def _pooled(
        self,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Sizes,
        ceil_mode: bool,
        value: float,
    ) -> tuple[Self, tuple[int, ...]]:
        """The windows, and the axes of the kernel; what is padded reads as `value`."""
        space = len(kernel_size) if not isinstance(kernel_size, int) else 2
        kernel = per_axis("kernel_size", kernel_size, space)
        if self.ndim < space:
            raise ShapeError(
                f"pooling of {self.shape} with a kernel of {kernel}",
                where=here(),
                hint="windows slide over the last axes: one length of the kernel for each",
            )
        steps = kernel if stride is None else per_axis("stride", stride, space)
        spread = per_axis("dilation", dilation, space)
        sides = self._sides(padding, space)
        if any(max(side) > k // 2 for side, k in zip(sides, kernel, strict=True)):
            raise ShapeError(
                f"pooling with padding {padding} and a kernel of {kernel}",
                where=here(),
                hint="windows would lie in the padding: pad by half of the kernel at most",
            )
        if ceil_mode:
            sizes = self.shape[-space:]
            sides = [
                _more(n, side, k, s, d)
                for n, side, k, s, d in zip(sizes, sides, kernel, steps, spread, strict=True)
            ]
        windows = self._pad_space(sides, value)._windows(kernel, steps, spread)
        return windows, tuple(range(windows.ndim - space, windows.ndim))

    @overload
    def max_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Self: ...
    @overload
    def max_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Self, Self]: ...
    def max_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Self | tuple[Self, Self]:
        """The largest of each window over the last axes; `stride` None is the kernel's size.

        With `return_indices` also where it is, the first of equals, counted over the last axes in
        row-major order, as `max_unpool2d` takes it.
        """
        options = (kernel_size, stride, dilation, padding, ceil_mode)
        windows, axes = self._pooled(*options, dtypes.min(self.dtype))
        largest = windows.max(axes)
        if not return_indices:
            return largest
        space = self.shape[self.ndim - len(axes) :]
        count = prod(space)
        places = type(self)._iota(count, self.device).reshape(space)
        windows_of_places, _ = places._pooled(*options, count)
        known = windows.detach()
        found = known == known.max(axes, keepdim=True)
        if dtypes.is_float(self.dtype):
            found = found | known.isnan()
        # what is padded lies beyond all places
        return largest, found.where(windows_of_places, count).min(axes)

    def max_unpool2d(
        self,
        indices: Self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """Zeros, with each element at the place that `indices` names, as `max_pool2d` returns them.

        The result is as large as the smallest input that pools to this shape, or as `output_size`
        says, in its last lengths. Raises ShapeError where shapes do not fit, DTypeError for indices
        that are no integers.
        """
        space = len(kernel_size) if not isinstance(kernel_size, int) else 2
        kernel = per_axis("kernel_size", kernel_size, space)
        steps = kernel if stride is None else per_axis("stride", stride, space)
        spread = per_axis("dilation", dilation, space)
        if not dtypes.is_int(indices.dtype):
            raise DTypeError(
                f"max_unpool2d with indices of {indices.dtype}",
                where=here(),
                hint="give those of max_pool2d(return_indices=True)",
            )
        if self.ndim < space or indices.shape != self.shape:
            raise ShapeError(
                f"max_unpool2d of {self.shape} with indices of {indices.shape} and a kernel of "
                f"{kernel}",
                where=here(),
                hint="each element has an index, and the kernel one length per axis of space",
            )
        lead = self.ndim - space
        sides = self._sides(padding, space)
        sizes = [
            (n - 1) * s - sum(side) + d * (k - 1) + 1
            for n, s, side, d, k in zip(
                self.shape[lead:], steps, sides, spread, kernel, strict=True
            )
        ]
        if output_size is not None:
            sizes = list(output_size)[-space:]
        if len(sizes) != space or any(n < 1 for n in sizes):
            raise ShapeError(
                f"max_unpool2d to {tuple(sizes)}",
                where=here(),
                hint="give one positive length per axis of space as output_size",
            )
        flat = self.reshape((*self.shape[:lead], -1) if self.numel() else (*self.shape[:lead], 0))
        whole = (*self.shape[:lead], prod(sizes))
        zeros = type(self)._new(UOp.full(whole, 0, self.dtype, self.device))
        made = zeros.scatter(lead, indices.reshape(flat.shape), flat)
        return made.reshape((*self.shape[:lead], *sizes))

    def avg_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """The mean of each window over the last axes, with or without what is padded; never with
        what `ceil_mode` adds."""
        options = (kernel_size, stride, dilation)
        windows, axes = self._pooled(*options, padding, ceil_mode, 0)
        if count_include_pad and not ceil_mode:
            return windows.mean(axes)
        ones = self._make(self.uop.const_like(1)).detach()
        if count_include_pad:
            ones = ones._pad_space(self._sides(padding, len(axes)), 1.0)
            counted, _ = ones._pooled(*options, 0, ceil_mode, 0)
            counted = counted.shrink([(0, n) for n in windows.shape])
        else:
            counted, _ = ones._pooled(*options, padding, ceil_mode, 0)
        return windows.sum(axes) / counted.sum(axes)

    def adaptive_avg_pool(self, output_size: Sequence[int | None]) -> Self:
        """The mean of each of so many parts of the last axes: part i of m is from floor(i n / m)
        up to ceil((i + 1) n / m). None keeps an axis. Raises ShapeError where there is no axis."""
        x = self._as_float()
        for axis, count in x._last_axes("adaptive_avg_pool", output_size):
            x = x._parts(axis, count, 0).sum(axis + 1) / x._parts_sizes(axis, count)
        return x

    def adaptive_max_pool(self, output_size: Sequence[int | None]) -> Self:
        """The largest of each of so many parts, as `adaptive_avg_pool`."""
        x = self
        for axis, count in x._last_axes("adaptive_max_pool", output_size):
            x = x._parts(axis, count, dtypes.min(self.dtype)).max(axis + 1)
        return x

    def _last_axes(self, name: str, sizes: Sequence[int | None]) -> list[tuple[int, int]]:
        """The last axes with the number of parts of each."""
        first = self.ndim - len(sizes)
        if first < 0 or any(n is not None and n < 1 for n in sizes):
            raise ShapeError(
                f"{name} of {self.shape} to {tuple(sizes)}",
                where=here(),
                hint="give a positive number of parts, or None, for each of the last axes",
            )
        return [(first + i, n) for i, n in enumerate(sizes) if n is not None]

    def _bounds(self, axis: int, count: int) -> tuple[Self, Self]:
        """Where the parts of an axis begin and end, one row each."""
        n = self.shape[axis]
        i = type(self)._iota(count, self.device).reshape(count, 1)
        return i * n // count, ((i + 1) * n + count - 1) // count

    def _parts(self, axis: int, count: int, value: ConstType) -> Self:
        """The elements of each part along a further axis, `value` for those of others."""
        n = self.shape[axis]
        lead, rest = self.shape[:axis], self.shape[axis + 1 :]
        if n % count == 0:
            return self.reshape((*lead, count, n // count, *rest))
        start, end = self._bounds(axis, count)
        places = type(self)._iota(n, self.device)
        inside = ((places >= start) & (places < end)).reshape(count, n, *[1] * len(rest))
        return inside.where(self.unsqueeze(axis), value)

    def _parts_sizes(self, axis: int, count: int) -> Self:
        start, end = self._bounds(axis, count)
        return (end - start).reshape(count, *[1] * (self.ndim - axis - 1)).cast(self.dtype)


def _more(n: int, side: tuple[int, int], k: int, s: int, d: int) -> tuple[int, int]:
    """Padding such that a last window which begins inside the input or its padding fits."""
    length = n + sum(side)
    reach = d * (k - 1) + 1
    count = ceildiv(length - reach, s) + 1
    if (count - 1) * s >= n + side[0]:  # it would begin in what is padded at the end
        count -= 1
    return side[0], side[1] + max(0, (count - 1) * s + reach - length)
