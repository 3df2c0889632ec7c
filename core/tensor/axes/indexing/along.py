"""`gather` and `scatter`: elements picked, or written, by the indices of a Tensor along one axis.

An index out of range gives 0, and writes nothing. Nothing here runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from core.dtype import dtypes, least_upper_dtype
from core.errors import DTypeError, ShapeError
from core.tensor.axes.creation import iota, positions
from core.tensor.axes.indexing.indexing import as_index, sum_exact
from core.tensor.axes.indexing.scattering import can_write, read_with_gradient, written
from core.tensor.elements.elementwise import operand, or_zero
from core.tensor.state.base import Number, TensorBase, axis_of, same_value
from core.tensor.views.movement import broadcast, length_of, pad_zeros
from core.uop.call.scatter import Scatter
from core.uop.ops import Ops

if TYPE_CHECKING:
    from core.tensor import Tensor

_REDUCES: Final = {None: None, "add": Ops.ADD, "multiply": Ops.MUL}


def gather(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """result[i, j] = self[index[i, j], j] for dim 0, and so on for every axis and rank.

    Raises ShapeError where `index` is longer than this on another axis.
    """
    axis = axis_of(self, dim)
    check_index(self, "gather", index, self, axis)
    if not self.ndim:
        return self.reshape(1).gather(0, index.reshape(1)).reshape(())
    x = self.shrink([None if i == axis else (0, n) for i, n in enumerate(index.shape)])
    # the axis to pick from goes last, and a length 1 stands in its place
    moved = x.permute([*(i for i in range(x.ndim) if i != axis), axis]).unsqueeze(axis)
    places = as_index(self, index, axis)
    mask = places.unsqueeze(-1) == positions(moved, x.ndim)
    made = sum_exact(or_zero(moved, mask), (x.ndim,))
    return read_with_gradient(self, made, partial(_gathered_back, axis=axis), places)


def _gathered_back(g: Tensor, self: Tensor, index: Tensor, *, axis: int) -> Tensor:
    """The gradient of what is gathered: each element gets the sum of where it went."""
    return written(self.zeros_like(dtype=g.dtype), index, g, Scatter(axis, Ops.ADD))


def check_index(self: Tensor, name: str, index: Tensor, source: Tensor, axis: int) -> None:
    if not dtypes.is_int(index.dtype):
        raise DTypeError(f"{name} with an index of {index.dtype}", hint="indices are integers")
    fits = index.ndim == source.ndim and all(
        i == axis or a <= b for i, (a, b) in enumerate(zip(index.shape, source.shape, strict=False))
    )
    if not fits:
        raise ShapeError(
            f"{name} with an index of {index.shape} in {source.shape}",
            hint=f"it may be longer only on axis {axis}",
        )


def scatter(
    self: Tensor, dim: int, index: Tensor, src: Tensor | Number, reduce: str | None = None
) -> Tensor:
    """This with self[index[i, j], j] = src[i, j] for dim 0, and so on; the last of equals wins.

    `reduce` "add" or "multiply" combines all of them with what is there instead.
    """
    if reduce is not None and reduce not in ("add", "multiply"):
        raise DTypeError(f"unknown reduction {reduce!r}", hint='use None, "add" or "multiply"')
    if not self.ndim:
        axis_of(self, dim)
        check_index(self, "scatter", index, self, 0)
        values = src.reshape(-1) if isinstance(src, TensorBase) else src
        return self.reshape(1).scatter(0, index.reshape(1), values, reduce).reshape(())
    if can_write(self, index, *([src] if isinstance(src, TensorBase) else [])):
        values = sources(self, "scatter", dim, index, src)
        how = Scatter(axis_of(self, dim), _REDUCES[reduce])
        return written(self, places_in(self, index), values, how)
    mask, values = scattered(self, dim, index, src)
    if not mask.shape[-1]:
        return same_value(self)
    if reduce == "add":
        return self + mask.where(values, 0).sum(-1, dtype=self.dtype)
    if reduce == "multiply":
        return self * mask.where(values, 1).prod(-1, dtype=self.dtype)
    count = mask.shape[-1]
    order = iota(type(self), count, self.device)
    last = mask.where(order, -1).max(-1, keepdim=True)
    value = sum_exact(or_zero(values, order == last), (self.ndim,))
    return (last.squeeze(-1) >= 0).where(value, self)


def places_in(self: Tensor, index: Tensor) -> Tensor:
    """Indices in a dtype that holds those of every axis of this."""
    return index.cast(least_upper_dtype(index.dtype, dtypes.index_up_to(max(self.shape))))


def sources(self: Tensor, name: str, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """The value for each index. Raises ShapeError and DTypeError for what does not fit."""
    check_index(self, name, index, self, axis_of(self, dim))
    values = src if isinstance(src, TensorBase) else operand(self, src).cast(self.dtype)
    values = broadcast(values, index.shape) if not values.ndim else values
    check_index(self, name, index, values, -1)
    return values.shrink([(0, n) for n in index.shape]).cast(self.dtype)


def scattered(self: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> tuple[Tensor, Tensor]:
    """For every element of this and every source along `dim`, as a last axis: whether that
    source goes there, and its value."""
    axis = axis_of(self, dim)
    values = sources(self, "scatter", dim, index, src)
    last = [i for i in range(self.ndim) if i != axis] + [axis]
    picks = index.permute(last).unsqueeze(axis)
    places = positions(self, axis).unsqueeze(-1)
    mask = _pad_axes(picks == places, self.shape, axis)
    values = _pad_axes(values.permute(last).unsqueeze(axis), self.shape, axis)
    for counted, n in values.uop.lengths:  # what is behind a length goes nowhere
        mask = length_of(mask, counted, n)
    return mask, values


def _pad_axes(self: Tensor, shape: Sequence[int], but: int) -> Tensor:
    """Zeros up to `shape` on every axis except `but` and the last."""
    return pad_zeros(
        self,
        [
            (0, 0 if i == but else n - m)
            for i, (n, m) in enumerate(zip(shape, self.shape, strict=False))
        ]
        + [(0, 0)],
    )
