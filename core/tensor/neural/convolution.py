"""Windows that slide over axes: unfolding and convolution.

A window is a view: element (o, k) of an axis reads position o * stride + k * dilation, made of
repeats, reshapes and shrinks. So gradients and kernels need nothing of their own. Shapes are
(batch, channels, *space), as in PyTorch, for any number of axes of space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.dtype import DTypeLike, least_upper_dtype
from core.errors import ShapeError
from core.helpers import ceildiv
from core.tensor.axes.texels import operands_in_texels, result_in_texels
from core.tensor.state.base import axis_of, tensor_of
from core.tensor.views.movement import pad_zeros, part_of
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

Sizes = int | Sequence[int]


def per_axis(name: str, value: Sizes, axes: int) -> tuple[int, ...]:
    """One number for each of `axes` axes. Raises ShapeError for another count of them."""
    values = (value,) * axes if isinstance(value, int) else tuple(value)
    if len(values) != axes:
        raise ShapeError(
            f"{name} {values} for {axes} axes", hint="give one number, or one per axis"
        )
    return values


def windows_of(
    self: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Tensor:
    """(..., *space) -> (..., *positions, *kernel)."""
    n = len(kernel)
    x, lead = self, self.ndim - n
    for i, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = _window(x, lead + 2 * i, k, s, d)
    pairs = range(lead, lead + 2 * n)
    return x.permute([*range(lead), *pairs[0::2], *pairs[1::2]])


def _window(self: Tensor, axis: int, k: int, s: int, d: int) -> Tensor:
    """One axis becomes (positions, k)."""
    length, before, after = self.shape[axis], self.shape[:axis], self.shape[axis + 1 :]
    reach = d * (k - 1) + 1
    if k < 1 or s < 1 or d < 1 or reach > length:
        raise ShapeError(
            f"a window of {k} elements (dilation {d}, stride {s}) over {length}",
            hint="sizes are positive, and the window must fit the padded axis",
        )
    count = (length - reach) // s + 1
    if k <= s and d == 1:  # windows do not overlap: cut into strides, keep k of each
        need = count * s
        x = self if need <= length else _pad_to(self, axis, need)
        x = part_of(x, axis, 0, need).reshape((*before, count, s, *after))
        return part_of(x, axis + 1, 0, k)
    # Rows of length + d, read from copies laid end to end: row j starts j * d later than the
    # one before it, and a column of row j is a step of s along the axis.
    row = length * ceildiv(max(count * s - d, 1), length) + d
    copies = ceildiv(k * row, length)
    times = [1] * self.ndim
    times[axis] = copies
    x = part_of(self.repeat(times), axis, 0, k * row).reshape((*before, k, row, *after))
    x = part_of(x, axis + 1, 0, count * s).reshape((*before, k, count, s, *after))
    return part_of(x, axis + 2, 0, 1).squeeze(axis + 2).transpose(axis, axis + 1)


def unfold(self: Tensor, dim: int, size: int, step: int) -> Tensor:
    """The windows of `size` elements along an axis, which begin `step` elements apart: their
    number along `dim`, their elements along a new last axis.

    Windows that overlap are copies: writing to them changes nothing else. Raises ShapeError for
    a window longer than the axis.
    """
    axis = axis_of(self, dim)
    if not self.ndim:
        return self.reshape(1).unfold(0, size, step).reshape((size,))
    if (
        size == 0 and step > 0
    ):  # one window before each element that begins one, and behind the last
        count = self.shape[axis] // step + 1
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :], 0)
        return tensor_of(type(self), UOp.full(shape, 0, self.dtype, self.device))
    x = _window(self, axis, size, step, 1)
    return x.permute([i for i in range(x.ndim) if i != axis + 1] + [axis + 1])


def _pad_to(self: Tensor, axis: int, length: int) -> Tensor:
    widths = [(0, 0)] * self.ndim
    widths[axis] = (0, length - self.shape[axis])
    return pad_zeros(self, widths)


def sides_of(padding: Sizes, axes: int) -> list[tuple[int, int]]:
    """(before, after) per axis from one number, one per axis, or two per axis (last first)."""
    if not isinstance(padding, int) and len(padding) == 2 * axes and axes:
        return [(padding[2 * i], padding[2 * i + 1]) for i in reversed(range(axes))]
    return [(p, p) for p in per_axis("padding", padding, axes)]


def pad_space(self: Tensor, sides: Sequence[tuple[int, int]], value: float = 0.0) -> Tensor:
    lead = [(0, 0)] * (self.ndim - len(sides))
    return self.pad([*lead, *sides], value=value)


def conv2d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    groups: int = 1,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Cross-correlation with weight (out channels, channels / groups, *kernel), plus bias (out
    channels,). Padding is with zeros. Raises ShapeError where channels do not fit."""
    space = weight.ndim - 2
    fits = (
        space >= 1
        and self.ndim == weight.ndim
        and (self.shape[1] == groups * weight.shape[1] and weight.shape[0] % groups == 0)
    )
    if not fits:
        raise ShapeError(
            f"convolution of {self.shape} with a weight of {weight.shape} in {groups} groups",
            hint="the input has groups * weight.shape[1] channels, and the groups "
            "divide the output channels",
        )
    result = least_upper_dtype(self.dtype, weight.dtype) if dtype is None else dtype
    if groups == 1:
        self, weight = operands_in_texels(self, 1, weight, 1, axes=2)
    batch, out, inner = self.shape[0], weight.shape[0], weight.shape[1]
    kernel = weight.shape[2:]
    padded = pad_space(self, sides_of(padding, space))
    windows = windows_of(
        padded, kernel, per_axis("stride", stride, space), per_axis("dilation", dilation, space)
    )
    places = windows.shape[2 : 2 + space]
    per_group = out // groups
    # (batch, groups, 1, channels, *places, *kernel) -> (..., *places, channels, *kernel)
    x = windows.reshape((batch, groups, 1, inner, *places, *kernel))
    x = x.permute([0, 1, 2, *range(4, 4 + space), 3, *range(4 + space, 4 + 2 * space)])
    w = weight.reshape((1, groups, per_group, *[1] * space, inner, *kernel))
    summed = tuple(range(3 + space, 4 + 2 * space))
    y = (x * w).sum(summed, dtype=dtype).cast(result).reshape((batch, out, *places))
    y = result_in_texels(y, 1, axes=2)
    return y if bias is None else y + bias.reshape((1, out, *[1] * space))


def conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    groups: int = 1,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
) -> Tensor:
    """The gradient of `conv2d` for its input, as an operation: weight (channels, out channels /
    groups, *kernel). `output_padding` adds to the far end of each axis."""
    space = weight.ndim - 2
    if (
        space < 1
        or self.ndim != weight.ndim
        or self.shape[1] != weight.shape[0]
        or (weight.shape[0] % groups)
    ):
        raise ShapeError(
            f"transposed convolution of {self.shape} with a weight of {weight.shape} in "
            f"{groups} groups",
            hint="the weight's first axis is the channels",
        )
    kernel = weight.shape[2:]
    steps, spread = per_axis("stride", stride, space), per_axis("dilation", dilation, space)
    more = per_axis("output_padding", output_padding, space)
    w = weight.reshape((groups, -1, *weight.shape[1:])).transpose(1, 2)
    w = w.flip(range(3, w.ndim)).reshape((-1, weight.shape[0] // groups, *kernel))
    x = self
    for axis, s in enumerate(steps, start=2):  # zeros between elements
        n = x.shape[axis]
        x = _pad_to(x.unsqueeze(axis + 1), axis + 1, s)
        x = part_of(
            x.reshape((*x.shape[:axis], n * s, *x.shape[axis + 2 :])), axis, 0, (n - 1) * s + 1
        )
    lost = zip(kernel, spread, sides_of(padding, space), more, strict=True)
    sides = [(d * (k - 1) - a, d * (k - 1) - b + o) for k, d, (a, b), o in lost]
    x = _resize_space(x, sides)
    return x.conv2d(w, bias, groups=groups, dilation=dilation)


def _resize_space(self: Tensor, sides: Sequence[tuple[int, int]]) -> Tensor:
    """Padding where positive, shrinking where negative."""
    x = pad_space(self, [(max(a, 0), max(b, 0)) for a, b in sides])
    lead = [None] * (x.ndim - len(sides))
    cut = [
        (max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(sides, x.shape[len(lead) :], strict=True)
    ]
    if any(end <= start for start, end in cut):
        raise ShapeError("padding that leaves no output", hint=f"the input's shape is {self.shape}")
    return x.shrink([*lead, *cut])
