"""Where a mask holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.dtype import dtypes
from core.errors import ShapeError
from core.tensor.axes.creation import iota

if TYPE_CHECKING:
    from core.tensor import Tensor


def first_of(self: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The positions of the first `size` true elements of a mask, and which of these exist: the
    position is 0 for others."""
    if size < 0:
        raise ShapeError(f"a size of {size}", hint="give 0 or more")
    number = self.cast(dtypes.int32).cumsum() * self.cast(dtypes.int32)  # from 1 on; else 0
    wanted = iota(type(self), size, self.device) + 1
    chosen = (wanted.unsqueeze(1) == number).cast(dtypes.int32)
    places = (chosen * iota(type(self), self.shape[0], self.device)).sum(1)
    return places, wanted <= self.cast(dtypes.int32).sum()


def nonzero(self: Tensor, size: int | None = None, fill_value: int = 0) -> Tensor:
    """The indices of the elements that are not zero, one row each. Realizes this Tensor.

    With a `size` it does not: these are the first so many, and rows of `fill_value` after them.
    """
    if size is not None:
        flat, there = first_of(self.ne(0).flatten(), size)
        places: list[Tensor] = []
        for n in reversed(self.shape):
            places.insert(0, flat % max(1, n))
            flat = flat // max(1, n)
        rows = places[0].stack(*places[1:], dim=1) if places else flat.reshape(size, 1)[:, :0]
        return there.unsqueeze(1).where(rows, fill_value)
    found = np.argwhere(self.numpy()).astype(np.int32)
    return type(self)(np.ascontiguousarray(found), self.device)
