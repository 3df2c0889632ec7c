"""Order along an axis: sorting, the largest few, positions drawn by weight.

Counts comparisons instead of moving elements, so that nothing depends on values.
"""

from __future__ import annotations

import math
from typing import Self

from core.dtype import DTypeLike, dtypes
from core.errors import DTypeError, ShapeError
from core.runtime.device import DeviceLike
from core.tensor.axes.placing import Placing
from core.tensor.calls.origin import here


class Order(Placing):
    """NaN counts as larger than every number."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """(values, positions) in order along an axis; equals keep their order, NaN counts as larger
        than every number.

        Counts for each element those before it: work grows with the square of the length.
        """
        axis = self._axis(dim)
        if not self.ndim:
            return self, self._make(self.uop.const_like(0).cast(dtypes.int32))
        x = self.transpose(axis, -1)
        n = x.shape[-1]
        mine, other = x.detach().unsqueeze(-1), x.detach().unsqueeze(-2)
        place = type(self)._iota(n, self.device)
        small, large = (mine, other) if descending else (other, mine)
        ahead, same = small < large, mine == other
        if dtypes.is_float(self.dtype):
            ahead = ahead | (large.isnan() & small.isnan().logical_not())
            same = same | (large.isnan() & small.isnan())
        tie = same & (place.reshape(1, n) < place.reshape(n, 1))
        rank = (ahead | tie).cast(dtypes.int32).sum(-1).contiguous()
        chosen = rank.unsqueeze(-2) == place.reshape(n, 1)
        values = x.unsqueeze(-2)._or_zero(chosen)._sum_exact((x.ndim,))
        order = chosen.where(place, 0).sum(-1)
        values, order = values.transpose(axis, -1), order.transpose(axis, -1)
        return values._as_long_as(self, axis), order._as_long_as(self, axis)

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The positions that put an axis in order."""
        return self.sort(dim, descending)[1]

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """(values, positions) of the k largest (or smallest) along an axis, in order."""
        axis = self._axis(dim)
        if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
            raise ShapeError(
                f"topk of {k} elements of shape {self.shape}",
                where=here(),
                hint=f"axis {axis} has fewer",
            )
        if not sorted_:
            raise ShapeError("topk without order", where=here(), hint="it is always sorted here")
        values, order = self.sort(axis, largest)
        return values._part(axis, 0, k), order._part(axis, 0, k)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Positions drawn with probabilities in proportion to these weights, as int32: of a vector,
        or of each row of a matrix. With `replacement` a position may be drawn again; without, by
        the largest of ln(u) / weight (P. Efraimidis and P. Spirakis, Weighted random sampling with
        a reservoir, 2006).

        Weights are not negative, and as many as samples without replacement are not 0. Raises
        ShapeError for other shapes, for fewer than one sample, and for more than there are weights
        without replacement; DTypeError for weights that are no floats.
        """
        if not dtypes.is_float(self.dtype):
            raise DTypeError(
                f"multinomial of {self.dtype}", where=here(), hint="weights are floats"
            )
        count = self.shape[-1] if self.shape else 0
        most = num_samples if replacement and count else count
        if self.ndim not in (1, 2) or not 1 <= num_samples <= most:
            raise ShapeError(
                f"{num_samples} samples of weights of shape {self.shape}",
                where=here(),
                hint="give a vector or a matrix, and without replacement no more samples than "
                "weights",
            )
        dtype = self.dtype if self.dtype.bits >= 32 else dtypes.float32
        weights = self.detach().cast(dtype)
        if num_samples > 1 and not replacement:
            u = 1 - type(self).rand(self.shape, device=self.device, dtype=dtype)
            keys = (weights > 0).where(u.log() / weights, -math.inf)
            return keys.topk(num_samples)[1].detach()
        sums, axis = weights.cumsum(-1).unsqueeze(-2), self.ndim
        total = sums._part(axis, self.shape[-1] - 1, self.shape[-1])
        lead = self.shape[:-1]
        u = type(self).rand((*lead, num_samples, 1), device=self.device, dtype=dtype)
        before = (sums <= u * total).cast(dtypes.int32).sum(-1)
        return before.clamp(max_=self.shape[-1] - 1)

    @classmethod
    def randperm(cls, n: int, device: DeviceLike = None, dtype: DTypeLike = dtypes.int32) -> Self:
        """0..n-1 in random order."""
        return cls.rand(n, device=device).argsort(0).cast(dtype)
