"""Order along an axis: sorting, the largest few, positions drawn by weight.

Counts comparisons instead of moving elements, so that nothing depends on values. NaN counts as
larger than every number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.dtype import DTypeLike, dtypes
from core.errors import DTypeError, ShapeError
from core.runtime.device import DeviceLike
from core.tensor.axes.creation import iota
from core.tensor.axes.indexing.indexing import sum_exact
from core.tensor.elements.elementwise import or_zero
from core.tensor.state.base import axis_of, make
from core.tensor.views.movement import as_long_as, part_of

if TYPE_CHECKING:
    from core.tensor import Tensor


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """(values, positions) in order along an axis; equals keep their order, NaN counts as larger
    than every number.

    Counts for each element those before it: work grows with the square of the length.
    """
    axis = axis_of(self, dim)
    if not self.ndim:
        return self, make(self, self.uop.const_like(0).cast(dtypes.int32))
    x = self.transpose(axis, -1)
    n = x.shape[-1]
    mine, other = x.detach().unsqueeze(-1), x.detach().unsqueeze(-2)
    place = iota(type(self), n, self.device)
    small, large = (mine, other) if descending else (other, mine)
    ahead, same = small < large, mine == other
    if dtypes.is_float(self.dtype):
        ahead = ahead | (large.isnan() & small.isnan().logical_not())
        same = same | (large.isnan() & small.isnan())
    tie = same & (place.reshape(1, n) < place.reshape(n, 1))
    rank = (ahead | tie).cast(dtypes.int32).sum(-1).contiguous()
    chosen = rank.unsqueeze(-2) == place.reshape(n, 1)
    values = sum_exact(or_zero(x.unsqueeze(-2), chosen), (x.ndim,))
    order = chosen.where(place, 0).sum(-1)
    values, order = values.transpose(axis, -1), order.transpose(axis, -1)
    return as_long_as(values, self, axis), as_long_as(order, self, axis)


def argsort(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """The positions that put an axis in order."""
    return self.sort(dim, descending)[1]


def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
) -> tuple[Tensor, Tensor]:
    """(values, positions) of the k largest (or smallest) along an axis, in order."""
    axis = axis_of(self, dim)
    if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
        raise ShapeError(
            f"topk of {k} elements of shape {self.shape}", hint=f"axis {axis} has fewer"
        )
    if not sorted_:
        raise ShapeError("topk without order", hint="it is always sorted here")
    values, order = self.sort(axis, largest)
    return part_of(values, axis, 0, k), part_of(order, axis, 0, k)


def multinomial(self: Tensor, num_samples: int = 1, replacement: bool = False) -> Tensor:
    """Positions drawn with probabilities in proportion to these weights, as int32: of a vector,
    or of each row of a matrix. With `replacement` a position may be drawn again; without, by
    the largest of ln(u) / weight (P. Efraimidis and P. Spirakis, Weighted random sampling with
    a reservoir, 2006).

    Weights are not negative, and as many as samples without replacement are not 0. Raises
    ShapeError for other shapes, for fewer than one sample, and for more than there are weights
    without replacement; DTypeError for weights that are no floats.
    """
    if not dtypes.is_float(self.dtype):
        raise DTypeError(f"multinomial of {self.dtype}", hint="weights are floats")
    count = self.shape[-1] if self.shape else 0
    most = num_samples if replacement and count else count
    if self.ndim not in (1, 2) or not 1 <= num_samples <= most:
        raise ShapeError(
            f"{num_samples} samples of weights of shape {self.shape}",
            hint="give a vector or a matrix, and without replacement no more samples than weights",
        )
    dtype = self.dtype if self.dtype.bits >= 32 else dtypes.float32
    weights = self.detach().cast(dtype)
    if num_samples > 1 and not replacement:
        u = 1 - type(self).rand(self.shape, device=self.device, dtype=dtype)
        keys = (weights > 0).where(u.log() / weights, -math.inf)
        return keys.topk(num_samples)[1].detach()
    sums, axis = weights.cumsum(-1).unsqueeze(-2), self.ndim
    total = part_of(sums, axis, self.shape[-1] - 1, self.shape[-1])
    lead = self.shape[:-1]
    u = type(self).rand((*lead, num_samples, 1), device=self.device, dtype=dtype)
    before = (sums <= u * total).cast(dtypes.int32).sum(-1)
    return before.clamp(max_=self.shape[-1] - 1)


@classmethod
def randperm(
    cls: type[Tensor], n: int, device: DeviceLike = None, dtype: DTypeLike = dtypes.int32
) -> Tensor:
    """0..n-1 in random order."""
    return cls.rand(n, device=device).argsort(0).cast(dtype)
