"""ShapeTracker: how a tensor of some shape reads its memory, as a chain of views.

The first view lies on memory, each further one on the flat index of the one before it, and the
last one has the tensor's shape. Movement ops change the last view, or add one where a single view
cannot say it. An index is valid if it is inside the mask of every view on the way. Immutable and
hashable. Never holds a symbolic dimension, never looks at data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from operator import index

import numpy as np
from numpy.typing import NDArray

from core.errors import ShapeError
from core.shape.axis import unravel
from core.shape.dependence import axis_effects
from core.shape.view import Shape, View


@dataclass(frozen=True, slots=True)
class ShapeTracker:
    """A chain of at least one view, from memory to the tensor's shape."""

    views: tuple[View, ...]

    @staticmethod
    def from_shape(shape: Sequence[int], strides: Sequence[int] | None = None) -> ShapeTracker:
        """All of the shape's elements in row-major order, or with the given strides.

        Raises ShapeError for a length that is no integer, or negative.
        """
        try:
            lengths = tuple(map(index, shape))
        except TypeError:
            raise ShapeError(
                f"{tuple(shape)} is no shape: each length is an integer",
                hint="variables are values, not lengths: take the largest that a variable can be, "
                "and mask what is beyond it",
            ) from None
        return ShapeTracker((View.create(lengths, strides),))

    @property
    def shape(self) -> Shape:
        """The tensor's shape."""
        return self.views[-1].shape

    @property
    def size(self) -> int:
        """Number of indices, valid or not."""
        return self.views[-1].size

    @property
    def real_size(self) -> int:
        """A number of memory elements that is enough for every valid index; exact for one view."""
        return 0 if any(view.empty for view in self.views) else self.views[0].real_size

    @property
    def contiguous(self) -> bool:
        """Element n of the tensor is element n of memory, nothing is masked."""
        return len(self.views) == 1 and self.views[0].contiguous

    @property
    def consecutive(self) -> bool:
        """Row-major without gaps, as `contiguous` is, but from any first element."""
        if len(self.views) != 1 or self.views[0].mask is not None:
            return False
        return self.views[0].strides == View.create(self.shape).strides

    @property
    def masked(self) -> bool:
        """Some view has a mask, so an index may be invalid."""
        return any(view.mask is not None for view in self.views)

    @property
    def once(self) -> bool:
        """Whether two valid indices are known to read different elements."""
        return all(view.once for view in self.views)

    def __add__(self, outer: ShapeTracker) -> ShapeTracker:
        """Reads `self` through `outer`, whose memory is the flat index of `self`; simplified.

        Raises ShapeError if `outer` addresses more elements than `self` has.
        """
        tracker = self
        for view in outer.views:
            if view.real_size > tracker.size:
                raise ShapeError(
                    f"a view of {view.real_size} elements cannot read a tensor of {tracker.size}",
                    f"shapes {outer.shape} over {self.shape}",
                    "compose the trackers in the order in which they were applied",
                )
            tracker = ShapeTracker((*tracker.views, view)).simplify()
        return tracker

    def simplify(self) -> ShapeTracker:
        """The same map in fewer views where neighbours can be merged exactly."""
        views = list(self.views)
        at = len(views) - 1
        while at > 0:
            merged = views[at - 1] + views[at]
            if merged is not None:
                views[at - 1 : at + 1] = [merged]
                at = len(views)
            at -= 1
        return self if len(views) == len(self.views) else ShapeTracker(tuple(views))

    def permute(self, order: Sequence[int]) -> ShapeTracker:
        """Axis k of the result is axis order[k]. Raises ShapeError, as all movement ops do."""
        return self._on_last(self.views[-1].permute(order))

    def expand(self, shape: Sequence[int]) -> ShapeTracker:
        """Repeats axes of size 1 up to `shape`."""
        return self._on_last(self.views[-1].expand(shape))

    def shrink(self, ranges: Sequence[tuple[int, int]]) -> ShapeTracker:
        """Keeps begin <= index < end per axis."""
        return self._on_last(self.views[-1].shrink(ranges))

    def pad(self, widths: Sequence[tuple[int, int]]) -> ShapeTracker:
        """Adds (before, after) invalid indices per axis."""
        return self._on_last(self.views[-1].pad(widths))

    def flip(self, axes: Sequence[bool]) -> ShapeTracker:
        """Reverses the axes marked True, one mark per axis."""
        return self._on_last(self.views[-1].flip(axes))

    def reshape(self, shape: Sequence[int]) -> ShapeTracker:
        """The same elements, row-major, under another shape; adds a view only if it must."""
        view = self.views[-1].reshape(shape)
        if view is not None:
            return self._on_last(view)
        return ShapeTracker((*self.views, View.create(shape))).simplify()

    def _on_last(self, view: View) -> ShapeTracker:
        tracker = ShapeTracker((*self.views[:-1], view))
        return tracker.simplify() if len(self.views) > 1 else tracker

    def invert(self, shape: Sequence[int]) -> ShapeTracker | None:
        """The tracker over this one's flat index that gives memory of `shape` back, if any.

        `self + inverse` is contiguous of `shape`. None unless every element of memory is read by
        exactly one valid index of every view.
        """
        sizes = [view.size for view in self.views[:-1]]
        inverse: ShapeTracker | None = None
        for view, size in zip(reversed(self.views), [*reversed(sizes), prod(shape)], strict=True):
            back = view.invert()
            if back is None or back.size != size:
                return None
            step = ShapeTracker((back,))
            inverse = step if inverse is None else inverse + step
        return None if inverse is None else inverse.reshape(shape).simplify()

    def real_strides(self) -> tuple[int | None, ...]:
        """Step of the memory address along each axis between valid indices; None if not constant.

        An axis of size 1 and an axis that nothing depends on have stride 0.
        """
        return axis_effects(self.views).strides

    def axis_is_masked(self, axis: int) -> bool:
        """Whether an index may be valid or not depending on its place on this axis.

        Exact for one view; for a chain it may say True where the masks cannot really cut.
        """
        return axis in axis_effects(self.views).masked

    def steps(self) -> Iterator[View]:
        """The views in the order in which an index goes through them, from last to first.

        Lowering applies strides, offset and mask of each to the index, then splits the flat
        result by the shape of the next.
        """
        return reversed(self.views)

    def index(self, idxs: Sequence[int]) -> tuple[int, bool]:
        """Memory offset in elements of one index, and whether it is valid; (0, False) if not.

        Raises ShapeError for an index outside the shape.
        """
        if len(idxs) != len(self.shape) or any(
            not 0 <= i < size for i, size in zip(idxs, self.shape, strict=False)
        ):
            raise ShapeError(
                f"index {tuple(idxs)} is outside the tensor",
                f"shape {self.shape}",
                "give 0 <= index < size per axis",
            )
        digits, flat = list(idxs), 0
        for at, view in enumerate(self.steps()):
            if at:
                digits = unravel(flat, view.shape)
            axes = view.axes
            if any(not a.begin <= i < a.end for i, a in zip(digits, axes, strict=True)):
                return 0, False
            flat = view.offset + sum(i * a.stride for i, a in zip(digits, axes, strict=True))
        return flat, True

    def indices(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """`index` of every index at once: two arrays of the tensor's shape."""
        valid = np.ones(self.shape, dtype=np.bool_)
        flat = np.arange(self.size, dtype=np.int64).reshape(self.shape)
        for view in self.steps():
            # an invalid position may be anything, even outside the view below
            safe = np.where(valid, flat, 0)
            flat = np.full(self.shape, view.offset, dtype=np.int64)
            place = view.size
            for axis in view.axes:
                place = place // axis.size if axis.size else 1
                digit = safe // max(place, 1) % max(axis.size, 1)
                valid &= (digit >= axis.begin) & (digit < axis.end)
                flat += digit * axis.stride
        return np.where(valid, flat, 0), valid
