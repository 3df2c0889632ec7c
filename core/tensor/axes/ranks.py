"""What stands at a rank along an axis: medians and quantiles; and differences of neighbours.

Sorts, so work grows as that of `sort`. NaN among the elements gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError
from core.tensor.state.base import TensorBase, own_axis, same_value
from core.tensor.views.movement import part_of

if TYPE_CHECKING:
    from core.tensor import Tensor

_BETWEEN: Final = ("linear", "lower", "higher", "nearest", "midpoint")


def median(
    self: Tensor, axis: int | None = None, keepdim: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The lower one of the middle elements: of all, or (values, positions) of those along an axis.

    Raises ShapeError for no elements.
    """
    if axis is None:
        values, _ = _median(self.reshape(-1), 0)
        return values.reshape((1,) * self.ndim if keepdim else ())
    if not self.ndim:
        return self.reshape(1).median(0)
    at = own_axis(self, "median", axis)
    found = _median(self, at)
    return found if keepdim else (found[0].squeeze(at), found[1].squeeze(at))


def _median(self: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """(values, positions), with the axis."""
    _check(self, "median", axis)
    n = self.shape[axis]
    values, order = self.sort(axis)
    middle = (part_of(t, axis, (n - 1) // 2, (n - 1) // 2 + 1) for t in (values, order))
    value, place = middle
    if not dtypes.is_float(self.dtype):
        return value, place
    last = part_of(values, axis, n - 1, n).detach()
    first = (self.detach().isnan()).cast(dtypes.int32).argmax(axis, keepdim=True)
    wrong = last.isnan()
    return wrong.where(math.nan, value), wrong.where(first, place)


def quantile(
    self: Tensor,
    q: float | Sequence[float] | Tensor,
    axis: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """What stands at the part `q` of the order, between 0 and 1, of all elements or along an axis;
    of several parts, one after the other along a new first axis. `interpolation` says what is
    between two elements: "linear", "lower", "higher", "nearest" or "midpoint".

    Raises DTypeError for integers and for another interpolation, ShapeError for no elements and
    for a part that is none.
    """
    if not dtypes.is_float(self.dtype):
        raise DTypeError(f"quantile of {self.dtype}", hint="cast it to a float dtype first")
    if interpolation not in _BETWEEN:
        raise DTypeError(
            f"unknown interpolation {interpolation!r}", hint=f"use one of {', '.join(_BETWEEN)}"
        )
    given: Any = q.tolist() if isinstance(q, TensorBase) else q
    several = isinstance(given, list | tuple)
    parts = [float(p) for p in (given if several else [given])]
    if any(not 0 <= p <= 1 for p in parts):
        raise ShapeError(f"quantile at {parts}", hint="parts are from 0 to 1")
    x = self.reshape(-1) if axis is None or not self.ndim else self
    at = 0 if axis is None or not self.ndim else own_axis(self, "quantile", axis)
    _check(x, "quantile", at)
    ordered, n = x.sort(at)[0], x.shape[at]
    wrong = part_of(ordered, at, n - 1, n).detach().isnan()
    found: list[Tensor] = []
    for p in parts:
        place = p * (n - 1)
        low, high = math.floor(place), math.ceil(place)
        share = {
            "linear": place - low, "lower": 0.0, "higher": 1.0, "midpoint": 0.5,
            "nearest": float(round(place) - low),
        }[interpolation]  # fmt: skip
        first, last = part_of(ordered, at, low, low + 1), part_of(ordered, at, high, high + 1)
        found.append(wrong.where(math.nan, _between(first, last, share)))
    if not keepdim:
        found = [value.squeeze(at) for value in found]
    elif axis is None:
        found = [value.reshape((1,) * self.ndim) for value in found]
    return found[0].stack(*found[1:]) if several else found[0]


def _between(first: Tensor, last: Tensor, share: float) -> Tensor:
    """A share of the way from one to the other, counted from the nearer one: that one alone where
    the share is 0 or 1, whatever the other is."""
    if share in (0, 1):
        return last if share else first
    return first.lerp(last, share) if share < 0.5 else last.lerp(first, 1 - share)


def _check(self: Tensor, name: str, axis: int) -> None:
    if self.uop.lengths:
        raise ShapeError(
            f"{name} along an axis whose length is a variable",
            hint="sort it, and take the element at a place made of the variable",
        )
    if not self.shape[axis]:
        raise ShapeError(f"{name} of no elements", hint=f"the shape is {self.shape}")


def diff(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element less the one before it along an axis, `n` times; `prepend` and `append` are
    joined to it before. Of bools: whether the two differ. Raises ShapeError for a negative `n`."""
    axis = own_axis(self, "diff", dim)
    if n < 0:
        raise ShapeError(f"diff {n} times", hint="give 0 or more")
    parts = [t for t in (prepend, self, append) if t is not None]
    x = parts[0].cat(*parts[1:], dim=axis) if len(parts) > 1 else same_value(self)
    for _ in range(n):
        later = x[(*[slice(None)] * axis, slice(1, None))]
        before = x[(*[slice(None)] * axis, slice(0, -1 if x.shape[axis] else 0))]
        x = later != before if dtypes.is_bool(x.dtype) else later - before
    return x
