"""Windows that slide over the last axes and become one number each, and the way back.

Windows are those of `convolution.py`; nothing here moves elements by itself. Shapes are (...,
*space); the kernel's length says how many axes space has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from core.dtype import ConstType, dtypes
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv, prod
from core.tensor.axes.creation import iota
from core.tensor.elements.elementwise import as_float
from core.tensor.neural.convolution import (
    Sizes,
    pad_space,
    per_axis,
    sides_of,
    windows_of,
)
from core.tensor.state.base import make, tensor_of
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


def _pooled(
    self: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    dilation: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    value: float,
) -> tuple[Tensor, tuple[int, ...]]:
    """The windows, and the axes of the kernel; what is padded reads as `value`."""
    space = len(kernel_size) if not isinstance(kernel_size, int) else 2
    kernel = per_axis("kernel_size", kernel_size, space)
    if self.ndim < space:
        raise ShapeError(
            f"pooling of {self.shape} with a kernel of {kernel}",
            hint="windows slide over the last axes: one length of the kernel for each",
        )
    steps = kernel if stride is None else per_axis("stride", stride, space)
    spread = per_axis("dilation", dilation, space)
    sides = sides_of(padding, space)
    if any(max(side) > k // 2 for side, k in zip(sides, kernel, strict=True)):
        raise ShapeError(
            f"pooling with padding {padding} and a kernel of {kernel}",
            hint="windows would lie in the padding: pad by half of the kernel at most",
        )
    if ceil_mode:
        sizes = self.shape[-space:]
        sides = [
            _more(n, side, k, s, d)
            for n, side, k, s, d in zip(sizes, sides, kernel, steps, spread, strict=True)
        ]
    windows = windows_of(pad_space(self, sides, value), kernel, steps, spread)
    return windows, tuple(range(windows.ndim - space, windows.ndim))


@overload
def max_pool2d(
    self: Tensor,
    kernel_size: Sizes = (2, 2),
    stride: Sizes | None = None,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    self: Tensor,
    kernel_size: Sizes = (2, 2),
    stride: Sizes | None = None,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
def max_pool2d(
    self: Tensor,
    kernel_size: Sizes = (2, 2),
    stride: Sizes | None = None,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest of each window over the last axes; `stride` None is the kernel's size.

    With `return_indices` also where it is, the first of equals, counted over the last axes in
    row-major order, as `max_unpool2d` takes it.
    """
    options = (kernel_size, stride, dilation, padding, ceil_mode)
    windows, axes = _pooled(self, *options, dtypes.min(self.dtype))
    largest = windows.max(axes)
    if not return_indices:
        return largest
    space = self.shape[self.ndim - len(axes) :]
    count = prod(space)
    places = iota(type(self), count, self.device).reshape(space)
    windows_of_places, _ = _pooled(places, *options, count)
    known = windows.detach()
    found = known == known.max(axes, keepdim=True)
    if dtypes.is_float(self.dtype):
        found = found | known.isnan()
    # what is padded lies beyond all places
    return largest, found.where(windows_of_places, count).min(axes)


def max_unpool2d(
    self: Tensor,
    indices: Tensor,
    kernel_size: Sizes = (2, 2),
    stride: Sizes | None = None,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
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
            hint="give those of max_pool2d(return_indices=True)",
        )
    if self.ndim < space or indices.shape != self.shape:
        raise ShapeError(
            f"max_unpool2d of {self.shape} with indices of {indices.shape} and a kernel of "
            f"{kernel}",
            hint="each element has an index, and the kernel one length per axis of space",
        )
    lead = self.ndim - space
    sides = sides_of(padding, space)
    sizes = [
        (n - 1) * s - sum(side) + d * (k - 1) + 1
        for n, s, side, d, k in zip(self.shape[lead:], steps, sides, spread, kernel, strict=True)
    ]
    if output_size is not None:
        sizes = list(output_size)[-space:]
    if len(sizes) != space or any(n < 1 for n in sizes):
        raise ShapeError(
            f"max_unpool2d to {tuple(sizes)}",
            hint="give one positive length per axis of space as output_size",
        )
    flat = self.reshape((*self.shape[:lead], -1) if self.numel() else (*self.shape[:lead], 0))
    whole = (*self.shape[:lead], prod(sizes))
    zeros = tensor_of(type(self), UOp.full(whole, 0, self.dtype, self.device))
    made = zeros.scatter(lead, indices.reshape(flat.shape), flat)
    return made.reshape((*self.shape[:lead], *sizes))


def avg_pool2d(
    self: Tensor,
    kernel_size: Sizes = (2, 2),
    stride: Sizes | None = None,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window over the last axes, with or without what is padded; never with
    what `ceil_mode` adds."""
    options = (kernel_size, stride, dilation)
    windows, axes = _pooled(self, *options, padding, ceil_mode, 0)
    if count_include_pad and not ceil_mode:
        return windows.mean(axes)
    ones = make(self, self.uop.const_like(1)).detach()
    if count_include_pad:
        ones = pad_space(ones, sides_of(padding, len(axes)), 1.0)
        counted, _ = _pooled(ones, *options, 0, ceil_mode, 0)
        counted = counted.shrink([(0, n) for n in windows.shape])
    else:
        counted, _ = _pooled(ones, *options, padding, ceil_mode, 0)
    return windows.sum(axes) / counted.sum(axes)


def adaptive_avg_pool(self: Tensor, output_size: Sequence[int | None]) -> Tensor:
    """The mean of each of so many parts of the last axes: part i of m is from floor(i n / m)
    up to ceil((i + 1) n / m). None keeps an axis. Raises ShapeError where there is no axis."""
    x = as_float(self)
    for axis, count in _last_axes(x, "adaptive_avg_pool", output_size):
        x = _parts(x, axis, count, 0).sum(axis + 1) / _parts_sizes(x, axis, count)
    return x


def adaptive_max_pool(self: Tensor, output_size: Sequence[int | None]) -> Tensor:
    """The largest of each of so many parts, as `adaptive_avg_pool`."""
    x = self
    for axis, count in _last_axes(x, "adaptive_max_pool", output_size):
        x = _parts(x, axis, count, dtypes.min(self.dtype)).max(axis + 1)
    return x


def _last_axes(self: Tensor, name: str, sizes: Sequence[int | None]) -> list[tuple[int, int]]:
    """The last axes with the number of parts of each."""
    first = self.ndim - len(sizes)
    if first < 0 or any(n is not None and n < 1 for n in sizes):
        raise ShapeError(
            f"{name} of {self.shape} to {tuple(sizes)}",
            hint="give a positive number of parts, or None, for each of the last axes",
        )
    return [(first + i, n) for i, n in enumerate(sizes) if n is not None]


def _bounds(self: Tensor, axis: int, count: int) -> tuple[Tensor, Tensor]:
    """Where the parts of an axis begin and end, one row each."""
    n = self.shape[axis]
    i = iota(type(self), count, self.device).reshape(count, 1)
    return i * n // count, ((i + 1) * n + count - 1) // count


def _parts(self: Tensor, axis: int, count: int, value: ConstType) -> Tensor:
    """The elements of each part along a further axis, `value` for those of others."""
    n = self.shape[axis]
    lead, rest = self.shape[:axis], self.shape[axis + 1 :]
    if n % count == 0:
        return self.reshape((*lead, count, n // count, *rest))
    start, end = _bounds(self, axis, count)
    places = iota(type(self), n, self.device)
    inside = ((places >= start) & (places < end)).reshape(count, n, *[1] * len(rest))
    return inside.where(self.unsqueeze(axis), value)


def _parts_sizes(self: Tensor, axis: int, count: int) -> Tensor:
    start, end = _bounds(self, axis, count)
    return (end - start).reshape(count, *[1] * (self.ndim - axis - 1)).cast(self.dtype)


def _more(n: int, side: tuple[int, int], k: int, s: int, d: int) -> tuple[int, int]:
    """Padding such that a last window which begins inside the input or its padding fits."""
    length = n + sum(side)
    reach = d * (k - 1) + 1
    count = ceildiv(length - reach, s) + 1
    if (count - 1) * s >= n + side[0]:  # it would begin in what is padded at the end
        count -= 1
    return side[0], side[1] + max(0, (count - 1) * s + reach - length)
