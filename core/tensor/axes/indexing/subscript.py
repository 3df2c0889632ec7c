"""Reads what stands between the brackets of `x[...]` and checks it against the shape.

Works on lengths only; `indexing.py` moves the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from types import EllipsisType
from typing import TYPE_CHECKING, Self, TypeAlias

from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv
from core.tensor.state.base import Shape, TensorBase

if TYPE_CHECKING:
    from core.tensor import Tensor

Index: TypeAlias = "int | slice | EllipsisType | Tensor | None"


@dataclass(frozen=True)
class Subscript:
    """What to do, in order: shrink to `bounds`, take every `steps`-th element (from the end where
    negative) which leaves `cut`, reshape to `shape`, then pick by `tensors` (axis of `shape`)."""

    bounds: list[tuple[int, int]]
    steps: list[int]
    cut: Shape
    shape: Shape
    tensors: list[tuple[int, Tensor]]

    @classmethod
    def parse(cls, items: Sequence[Index], shape: Shape) -> Self:
        """Raises ShapeError for an index out of range, too many of them, or step 0."""
        named = sum(item is not None and item is not Ellipsis for item in items)
        dots = sum(item is Ellipsis for item in items)
        if dots > 1:
            raise ShapeError("an index with two ...", hint="use one")
        if named > len(shape):
            raise ShapeError(
                f"{named} indices into a Tensor with {len(shape)} axes",
                hint=f"the shape is {shape}",
            )
        whole = [slice(None)] * (len(shape) - named)
        at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
        full = [*items[:at], *whole, *items[at + dots :]]
        bounds: list[tuple[int, int]] = []
        steps: list[int] = []
        cut: list[int] = []
        result: list[int] = []
        tensors: list[tuple[int, Tensor]] = []
        for item in full:
            if item is None:
                result.append(1)
                continue
            length = shape[len(bounds)]
            if isinstance(item, slice):
                start, end, step = _bounds(item, length)
                bounds.append((start, end))
                steps.append(step)
                cut.append(ceildiv(end - start, abs(step)))
                result.append(cut[-1])
                continue
            steps.append(1)
            if isinstance(item, TensorBase):
                tensors.append((len(result), item))
                bounds.append((0, length))
                result.append(length)
            elif not isinstance(item, EllipsisType):
                place = _place(index(item), length, len(bounds), shape)
                bounds.append((place, place + 1))
            cut.append(bounds[-1][1] - bounds[-1][0])
        return cls(bounds, steps, tuple(cut), tuple(result), tensors)


def _place(i: int, length: int, axis: int, shape: Shape) -> int:
    if not -length <= i < length:
        raise ShapeError(f"index {i} is out of range on axis {axis}", hint=f"the shape is {shape}")
    return i + length if i < 0 else i


def _bounds(item: slice, length: int) -> tuple[int, int, int]:
    """The part to cut out (start, end) and the step; a negative step starts at the part's end."""
    try:
        step = 1 if item.step is None else index(item.step)
        start, stop, _ = item.indices(length) if step else (0, 0, 0)
    except TypeError:
        raise DTypeError(
            f"a slice from {item.start!r} to {item.stop!r} with step {item.step!r}",
            hint="bounds and step are integers or left out",
        ) from None
    if step == 0:
        raise ShapeError("a slice with step 0", hint="use 1 or more, or -1 or less")
    count = max(0, ceildiv(stop - start, step))
    if count == 0:
        return 0, 0, step
    last = start + (count - 1) * step
    return (start, last + 1, step) if step > 0 else (last, start + 1, step)
