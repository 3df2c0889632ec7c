"""Resampling of the last axes to other lengths: nearest, linear and cubic.

Places between elements are fractions of whole numbers, so no rounding moves an element to its
neighbour. Each axis is resampled separately; nothing here runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Final, SupportsIndex

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError
from core.tensor.axes.creation import iota
from core.tensor.axes.indexing.indexing import pick
from core.tensor.elements.elementwise import compute_wide
from core.tensor.neural.convolution import Sizes
from core.tensor.views.movement import as_ints

if TYPE_CHECKING:
    from core.tensor import Tensor

_LINEAR: Final = ("linear", "bilinear", "trilinear")
_CUBIC: Final = ("cubic", "bicubic")
_NEAREST: Final = ("nearest", "nearest-exact")
_A: Final = -0.75
"""The free parameter of the cubic kernel, as in PyTorch. R. Keys, Cubic convolution interpolation
for digital image processing (1981)."""


@dataclass(frozen=True)
class _Grid:
    """Element i of the result is at (i * scale + offset) / unit of the axis it is taken from."""

    scale: int
    offset: int
    unit: int

    @classmethod
    def of(cls, length: int, wanted: int, mode: str, align_corners: bool) -> _Grid:
        if mode == "nearest":
            return cls(length, 0, wanted)
        if mode == "nearest-exact":  # the middle of element i, not moved back by half an element
            return cls(2 * length, length, 2 * wanted)
        if align_corners:
            return cls(length - 1, 0, max(1, wanted - 1))
        return cls(2 * length, length - wanted, 2 * wanted)


def interpolate(
    self: Tensor, size: Sizes, mode: str = "linear", align_corners: bool = False
) -> Tensor:
    """The last axes resampled to the lengths `size`; a single number applies to all axes after the
    first two.

    `mode` is "linear" (also "bilinear" and "trilinear", whatever the number of axes), "cubic"
    (also "bicubic"), "nearest" or "nearest-exact". `align_corners` keeps the first and the last
    element at the ends; else the ends of the outermost elements stay. Raises ShapeError for a
    length below 1, and for more lengths than axes; DTypeError for another mode, for corners in
    a nearest mode, and for integers but uint8, whose results are rounded, in a mode that mixes
    elements.
    """
    if isinstance(size, SupportsIndex):
        wanted = (index(size),) * max(1, self.ndim - 2)
    else:
        wanted = as_ints(size)
    if self.uop.lengths:
        raise ShapeError(
            "interpolation of an axis whose length is a variable",
            hint="resample what has a length that is a number",
        )
    if mode not in (*_LINEAR, *_CUBIC, *_NEAREST):
        raise DTypeError(
            f"unknown interpolation mode {mode!r}",
            hint="use linear, cubic, nearest or nearest-exact",
        )
    if mode in _NEAREST and align_corners:
        raise DTypeError(
            f"align_corners with mode {mode!r}", hint="only modes that mix elements align corners"
        )
    mixes = mode not in _NEAREST
    if mixes and not dtypes.is_float(self.dtype) and self.dtype is not dtypes.uint8:
        raise DTypeError(
            f"{mode} interpolation of {self.dtype}",
            hint='cast to a float first, or use mode="nearest"',
        )
    lead = self.ndim - len(wanted)
    if lead < 0 or any(n < 1 for n in wanted) or 0 in self.shape[lead:]:
        raise ShapeError(
            f"interpolation of {self.shape} to lengths {wanted}",
            hint="give a positive length for each of the last axes, which have elements",
        )
    if mode in _NEAREST:
        return _resampled(self, lead, wanted, mode, False)
    if self.dtype is dtypes.uint8:
        made = _resampled(self.cast(dtypes.float32), lead, wanted, mode, align_corners)
        return made.round().clamp(0, 255).cast(self.dtype)
    return compute_wide(self, lambda x: _resampled(x, lead, wanted, mode, align_corners))


def _resampled(
    self: Tensor, lead: int, wanted: tuple[int, ...], mode: str, align_corners: bool
) -> Tensor:
    x = self
    for axis, n in enumerate(wanted, lead):
        times, rest = divmod(n, x.shape[axis])
        if mode in _NEAREST and not rest:
            x = x.repeat_interleave(times, axis)
        elif n != x.shape[axis]:
            grid = _Grid.of(x.shape[axis], n, mode, align_corners)
            x = _along(x, axis, n, mode, grid)
    return x


def _along(self: Tensor, axis: int, n: int, mode: str, grid: _Grid) -> Tensor:
    """One axis resampled to `n` elements."""
    last = self.shape[axis] - 1
    at = iota(type(self), n, self.device).cast(dtypes.int64) * grid.scale + grid.offset
    if mode in _LINEAR:
        at = at.clamp(0)
    first = at // grid.unit
    if mode in _NEAREST:
        return _picked(self, axis, first.clamp(0, last))
    shape = [n if i == axis else 1 for i in range(self.ndim)]
    t = ((at - first * grid.unit).cast(self.dtype) / grid.unit).reshape(shape)
    if mode in _LINEAR:
        weights = {0: 1 - t, 1: t}
    else:
        far, near = t + 1, 1 - t
        weights = {-1: _outer(far), 0: _inner(t), 1: _inner(near), 2: _outer(near + 1)}
    total: Tensor | None = None
    for step, weight in weights.items():
        part = _picked(self, axis, (first + step).clamp(0, last)) * weight
        total = part if total is None else total + part
    assert total is not None
    return total


def _picked(self: Tensor, axis: int, places: Tensor) -> Tensor:
    return pick(self, [(axis, places)])


def _inner(self: Tensor) -> Tensor:
    """The cubic kernel at distances of 0 to 1."""
    return ((_A + 2) * self - (_A + 3)) * self * self + 1


def _outer(self: Tensor) -> Tensor:
    """The cubic kernel at distances of 1 to 2."""
    return ((self - 5) * self + 8) * self * _A - 4 * _A
