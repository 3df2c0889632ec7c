"""Elements put where indices say, and parts along one axis.

Compositions of indexing and `scatter`: equal indices are combined, or the last of them wins.
Indices out of range place nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from core.dtype import ConstType, dtypes, sum_acc_dtype
from core.errors import DTypeError, ShapeError
from core.tensor.axes.creation import iota
from core.tensor.axes.indexing.along import check_index, places_in, scattered, sources
from core.tensor.axes.indexing.indexing import as_index
from core.tensor.axes.indexing.masks import first_of
from core.tensor.axes.indexing.scattering import can_write, written
from core.tensor.elements.elementwise import as_mask, broadcast_shape
from core.tensor.state.base import Number, axis_of, own_axis
from core.tensor.views.movement import broadcast
from core.uop.call.scatter import Scatter
from core.uop.ops import Ops

if TYPE_CHECKING:
    from core.tensor import Tensor


def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    """As `scatter`, combining with "sum", "prod", "mean", "amax" or "amin"."""
    if not self.ndim:
        axis_of(self, dim)
        check_index(self, "scatter_reduce", index, self, 0)
        places, values = index.reshape(1), src.reshape(-1)
        found = self.reshape(1).scatter_reduce(0, places, values, reduce, include_self)
        return found.reshape(())
    if reduce not in _REDUCES:
        raise DTypeError(
            f"unknown reduction {reduce!r}", hint='use "sum", "prod", "mean", "amax" or "amin"'
        )
    if can_write(self, index, src):
        return _written(self, dim, index, src, reduce, include_self)
    mask, values = scattered(self, dim, index, src)
    any_ = mask.any(-1)
    base = self if include_self else None
    if reduce == "sum":
        total = mask.where(values, 0).sum(-1, dtype=self.dtype)
        return total + self if base is not None else any_.where(total, self)
    if reduce == "prod":
        total = mask.where(values, 1).prod(-1, dtype=self.dtype)
        return total * self if base is not None else any_.where(total, self)
    if reduce in ("amax", "amin"):
        if reduce == "amax":
            best = mask.where(values, dtypes.min(self.dtype)).max(-1)
            combined = best.maximum(self)
        else:
            best = mask.where(values, dtypes.max(self.dtype)).min(-1)
            combined = best.minimum(self)
        return any_.where(combined if base is not None else best, self)
    count = mask.cast(dtypes.int32).sum(-1) + int(include_self)
    total = mask.where(values, 0).sum(-1, dtype=sum_acc_dtype(self.dtype))
    mean = _mean(self, total + (self if base is not None else 0), count.maximum(1))
    return (any_ if base is None else any_ | True).where(mean, self)


def _mean(self: Tensor, total: Tensor, count: Tensor) -> Tensor:
    """What is stored of a sum of so many: of integers the mean is rounded down."""
    mean = total // count.cast(total.dtype) if dtypes.is_int(self.dtype) else total / count
    return mean.cast(self.dtype)


_REDUCES: Final = {
    "sum": Ops.ADD, "prod": Ops.MUL, "mean": Ops.ADD, "amax": Ops.MAX, "amin": Ops.MAX,
}  # fmt: skip


def _written(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    """`scatter_reduce` by a kernel that goes over the values."""
    values, axis = sources(self, "scatter_reduce", dim, index, src), axis_of(self, dim)
    places = places_in(self, index)
    how = Scatter(axis, _REDUCES[reduce], reduce == "amin", not include_self)
    if reduce != "mean":
        return written(self, places, values, how)
    wide = sum_acc_dtype(self.dtype)
    total = written(self.cast(wide), places, values.cast(wide), how)
    one = places.ones_like(dtype=dtypes.int32)
    counts = written(self.ones_like(dtype=dtypes.int32), places, one, how)
    return _mean(self, total, counts)


def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """`scatter` that adds to what is there."""
    return self.scatter(dim, index, src, "add")


def _named_places(self: Tensor, name: str, dim: int, index: Tensor) -> tuple[int, Tensor]:
    """An axis, and a vector of indices along it shaped to broadcast against this."""
    axis = own_axis(self, name, dim)
    if index.ndim != 1 or not dtypes.is_int(index.dtype):
        raise ShapeError(
            f"{name} with an index of shape {index.shape} {index.dtype}",
            hint="the index is a vector of integers",
        )
    shape = [len(index) if i == axis else 1 for i in range(self.ndim)]
    return axis, as_index(self, index, axis).reshape(shape)


def _rows_at(
    self: Tensor, name: str, dim: int, index: Tensor, source: Tensor
) -> tuple[int, Tensor]:
    """`_named_places`, with an index for each element of `source`."""
    axis, places = _named_places(self, name, dim, index)
    shape = (*self.shape[:axis], len(index), *self.shape[axis + 1 :])
    if source.shape != shape:
        raise ShapeError(
            f"{name} of a source of {source.shape} into {self.shape} along axis {axis}",
            hint=f"{len(index)} indices take a source of {shape}",
        )
    return axis, broadcast(places, shape)


def index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """This with alpha times `source` added at the places along an axis that a vector of
    integers names."""
    axis, places = _rows_at(self, "index_add", dim, index, source)
    added = source if isinstance(alpha, int) and alpha == 1 else source * alpha
    return self.scatter(axis, places, added, "add")


def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """This with `source` at the places along an axis that a vector of integers names."""
    axis, places = _rows_at(self, "index_copy", dim, index, source)
    return self.scatter(axis, places, source)


def index_fill(self: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """This with one value at the places along an axis that a vector of integers names."""
    axis, places = _named_places(self, "index_fill", dim, index)
    rows = places.reshape(-1, 1) == iota(type(self), self.shape[axis], self.device)
    shape = [n if i == axis else 1 for i, n in enumerate(self.shape)]
    return self.masked_fill(rows.any(0).reshape(shape), value)


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the position that each element names on a new last axis, 0 elsewhere, as int32.

    -1 counts the classes by looking at the values.
    """
    if not dtypes.is_int(self.dtype):
        raise DTypeError(f"one_hot of {self.dtype}", hint="classes are integers")
    count = int(self.max().item()) + 1 if num_classes == -1 else num_classes
    classes, wide = iota(type(self), count, self.device), dtypes.index_up_to(count)
    named = self.cast(wide) if self.dtype.bits < wide.bits else self
    return (named.unsqueeze(-1) == classes.cast(named.dtype)).cast(dtypes.int32)


def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The places along an axis that a vector of integers names. Raises ShapeError for an index
    that is none, DTypeError for other dtypes."""
    axis = own_axis(self, "index_select", dim)
    if index.ndim != 1:
        raise ShapeError(
            f"index_select with an index of shape {index.shape}", hint="the index is a vector"
        )
    return self[(*[slice(None)] * axis, index)]


def take_along_dim(self: Tensor, index: Tensor, dim: int) -> Tensor:
    """`gather`, with all other axes of the two broadcast."""
    axis = own_axis(self, "take_along_dim", dim)
    if index.ndim != self.ndim:
        raise ShapeError(
            f"take_along_dim of {self.shape} with an index of {index.shape}",
            hint="both have as many axes",
        )
    others = broadcast_shape(*((*t.shape[:axis], 1, *t.shape[axis + 1 :]) for t in (self, index)))
    mine, its = (
        broadcast(t, (*others[:axis], t.shape[axis], *others[axis + 1 :])) for t in (self, index)
    )
    return mine.gather(axis, its)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A view of `length` places along an axis, from `start` on. Raises ShapeError where there
    are not so many."""
    axis = own_axis(self, "narrow", dim)
    n = self.shape[axis]
    first = start + n if start < 0 else start
    if not 0 <= first <= first + length <= n or length < 0:
        raise ShapeError(
            f"narrow of {n} elements to {length} from {start} on",
            hint=f"axis {axis} of {self.shape} has no such part",
        )
    return self[(*[slice(None)] * axis, slice(first, first + length))]


def select(self: Tensor, dim: int, index: int) -> Tensor:
    """A view of one place along an axis, without that axis."""
    axis = own_axis(self, "select", dim)
    return self[(*[slice(None)] * axis, index)]


def masked_select(
    self: Tensor, mask: Tensor, size: int | None = None, fill_value: ConstType = 0
) -> Tensor:
    """The elements where the mask holds, in order, with one axis. Realizes the mask.

    With a `size` it does not: these are the first so many, and `fill_value` after them. Raises
    DTypeError for a mask that is not of bools, ShapeError for a negative size.
    """
    mask = as_mask(mask, "masked_select")
    if size is not None:
        flat, there = first_of(broadcast(mask, self.shape).flatten(), size)
        return there.where(self.flatten()[flat], fill_value)
    flat = np.flatnonzero(broadcast(mask, self.shape).numpy()).astype(np.int32)
    return self.flatten()[type(self)(flat, self.device)]
