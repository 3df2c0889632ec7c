"""View: a strided, offset and masked window on flat memory, as an immutable value.

Index (i0, i1, ...) of a view reads element offset + sum(i * stride) where every i is inside its
mask, and reads nothing (the consumer supplies 0) elsewhere. Views are canonical: two views made by
`View.create` that differ only in something no valid element can see are equal. All sizes, strides
and offsets count elements, never bytes. Never holds a symbolic dimension, never looks at data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TypeAlias

from core.errors import ShapeError
from core.shape.axis import Axis, reshape_axes, strides_for
from core.shape.compose import compose_axes

Shape: TypeAlias = tuple[int, ...]
Mask: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class View:
    """One affine map from an index to an element. Make it with `View.create`.

    `mask` is a valid range (begin, end) per axis, or None where all of it is valid. `contiguous`
    says that the view is row-major from element 0 with nothing masked.
    """

    shape: Shape
    strides: Shape
    offset: int
    mask: Mask | None
    contiguous: bool
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = (self.shape, self.strides, self.offset, self.mask)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        # rebuilt on load, because hash(None) and with it _hash differ between processes
        return View.create, (self.shape, self.strides, self.offset, self.mask)

    @staticmethod
    def create(
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        offset: int = 0,
        mask: Sequence[tuple[int, int]] | None = None,
    ) -> View:
        """The canonical view with these parts; row-major where `strides` is None.

        Raises ShapeError for a negative dimension, parts of different rank, or a mask range that
        leaves its axis.
        """
        fixed = None if mask is None else tuple((begin, end) for begin, end in mask)
        return _canonical(tuple(shape), None if strides is None else tuple(strides), offset, fixed)

    @property
    def size(self) -> int:
        """Number of indices, valid or not."""
        return prod(self.shape)

    @property
    def real_size(self) -> int:
        """Number of elements, from 0, that memory must have for every valid index; 0 if none."""
        axes = self.axes
        if any(axis.begin >= axis.end for axis in axes):
            return 0
        return (
            1
            + self.offset
            + sum(axis.stride * (axis.end - 1 if axis.stride > 0 else axis.begin) for axis in axes)
        )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The view's axes with their valid range spelled out."""
        ranges = self.mask or [(0, size) for size in self.shape]
        return tuple(
            Axis(size, stride, begin, end)
            for size, stride, (begin, end) in zip(self.shape, self.strides, ranges, strict=True)
        )

    @property
    def empty(self) -> bool:
        """No index is valid: the size is 0 or the mask leaves nothing."""
        return 0 in self.shape or (self.mask is not None and self.mask[0][0] == self.mask[0][1])

    @property
    def once(self) -> bool:
        """Whether two valid indices are known to read different elements: each stride steps over
        all that the axes of smaller strides reach."""
        reached = 0
        for axis in sorted(self.axes, key=lambda axis: abs(axis.stride)):
            steps = axis.end - axis.begin - 1
            if steps > 0:
                if abs(axis.stride) <= reached:
                    return False
                reached += abs(axis.stride) * steps
        return True

    def permute(self, order: Sequence[int]) -> View:
        """Axis k of the result is axis order[k]. Raises ShapeError unless `order` permutes all."""
        if sorted(order) != list(range(len(self.shape))):
            raise ShapeError(
                f"permute order {tuple(order)} does not name every axis once",
                f"shape {self.shape}",
                f"give {len(self.shape)} different axes from 0",
            )
        return View.create(
            [self.shape[k] for k in order],
            [self.strides[k] for k in order],
            self.offset,
            None if self.mask is None else [self.mask[k] for k in order],
        )

    def expand(self, shape: Sequence[int]) -> View:
        """Repeats axes of size 1. Raises ShapeError where another axis would change its size."""
        self._check_rank("expand", shape)
        for axis, (have, want) in enumerate(zip(self.shape, shape, strict=True)):
            if have not in (1, want):
                raise ShapeError(
                    f"cannot expand axis {axis} from {have} to {want}",
                    f"shape {self.shape}",
                    "only an axis of size 1 can be expanded",
                )
        mask = self.mask
        if mask is not None:
            mask = tuple(
                kept if have == want else (0, want if kept[1] > kept[0] else 0)
                for kept, have, want in zip(mask, self.shape, shape, strict=True)
            )
        return View.create(shape, self.strides, self.offset, mask)

    def reshape(self, shape: Sequence[int]) -> View | None:
        """The same elements, row-major, under another shape; None if no one view says that.

        Raises ShapeError if the number of elements would change.
        """
        wanted = tuple(shape)
        if self.shape == wanted:
            return self
        if self.size != prod(wanted) or any(size < 0 for size in wanted):
            raise ShapeError(
                f"cannot reshape {self.size} elements to {wanted}",
                f"shape {self.shape}",
                "the product of the dimensions must stay the same",
            )
        if self.contiguous:
            return View.create(wanted)
        if self.empty:
            return View.create(wanted, mask=[(0, 0)] * len(wanted)) if wanted else None
        found = reshape_axes(self.axes, self.offset, wanted)
        return None if found is None else View.from_axes(*found)

    def shrink(self, ranges: Sequence[tuple[int, int]]) -> View:
        """Keeps begin <= index < end per axis. Raises ShapeError for a range outside its axis."""
        self._check_rank("shrink", ranges)
        for axis, ((begin, end), size) in enumerate(zip(ranges, self.shape, strict=True)):
            if not 0 <= begin <= end <= size:
                raise ShapeError(
                    f"cannot shrink axis {axis} to {begin}..{end}",
                    f"shape {self.shape}",
                    f"give 0 <= begin <= end <= {size}",
                )
        return self._window(ranges)

    def pad(self, widths: Sequence[tuple[int, int]]) -> View:
        """Adds (before, after) invalid indices per axis. Raises ShapeError for a negative width."""
        self._check_rank("pad", widths)
        if any(width < 0 for pair in widths for width in pair):
            raise ShapeError(
                f"cannot pad by {tuple(widths)}",
                f"shape {self.shape}",
                "use shrink to cut",
            )
        return self._window(
            [(-before, size + after)
             for (before, after), size in zip(widths, self.shape, strict=True)]
        )  # fmt: skip

    def flip(self, axes: Sequence[bool]) -> View:
        """Reverses the axes marked True, one mark per axis."""
        self._check_rank("flip", axes)
        return View.from_axes(
            [
                Axis(a.size, -a.stride, a.size - a.end, a.size - a.begin) if flipped else a
                for a, flipped in zip(self.axes, axes, strict=True)
            ],
            self.offset
            + sum(
                (a.size - 1) * a.stride
                for a, flipped in zip(self.axes, axes, strict=True)
                if flipped
            ),
        )

    def __add__(self, outer: View) -> View | None:
        """The one view that reads `self` through `outer`, exactly; None if there is none.

        The flat position that `outer` computes is an index into `self` in row-major order, so
        `outer` may address at most `self.size` elements (ShapeError otherwise).
        """
        if outer.real_size > self.size:
            raise ShapeError(
                f"a view of {outer.real_size} elements cannot read one that has {self.size}",
                f"shapes {outer.shape} over {self.shape}",
                "compose the views in the order in which they were applied",
            )
        if self.contiguous or outer.empty:
            return outer
        if outer.contiguous and outer.size == self.size:
            return self.reshape(outer.shape)
        if self.empty:
            return (
                View.create(outer.shape, mask=[(0, 0)] * len(outer.shape)) if outer.shape else None
            )
        found = compose_axes(self.axes, self.offset, outer.axes, outer.offset)
        return None if found is None else View.from_axes(*found)

    def invert(self) -> View | None:
        """The view of its own flat indices that lists them in the order of the elements read.

        `self + inverse` is then contiguous. None unless the valid indices reach elements 0, 1,
        ... n - 1 exactly once each, as permute, flip, pad and reshape leave it.
        """
        own = View.create(self.shape)
        both = [self, own if self.mask is None else own.shrink(self.mask)]
        if self.mask is not None:
            both[0] = self.shrink(self.mask)
        backward = [stride < 0 for stride in self.strides]
        order = sorted(range(len(self.shape)), key=lambda k: -abs(self.strides[k]))
        reads, inverse = (view.flip(backward).permute(order) for view in both)
        return inverse if reads.contiguous else None

    @staticmethod
    def from_axes(axes: Sequence[Axis], offset: int) -> View:
        """The view with these axes."""
        return View.create(
            [axis.size for axis in axes],
            [axis.stride for axis in axes],
            offset,
            [(axis.begin, axis.end) for axis in axes],
        )

    def _window(self, ranges: Sequence[tuple[int, int]]) -> View:
        """Indices from begin to end per axis, invalid where the view has none."""
        axes = [
            Axis(
                end - begin,
                axis.stride,
                min(max(axis.begin - begin, 0), end - begin),
                min(max(axis.end - begin, 0), end - begin),
            )
            for axis, (begin, end) in zip(self.axes, ranges, strict=True)
        ]
        moved = sum(axis.stride * begin for axis, (begin, _) in zip(self.axes, ranges, strict=True))
        return View.from_axes(axes, self.offset + moved)

    def _check_rank(self, what: str, per_axis: Sequence[object]) -> None:
        if len(per_axis) != len(self.shape):
            raise ShapeError(
                f"{what} got {len(per_axis)} entries for {len(self.shape)} axes",
                f"shape {self.shape}",
                "give one entry per axis",
            )


@lru_cache(maxsize=1 << 14)
def _canonical(shape: Shape, strides: Shape | None, offset: int, mask: Mask | None) -> View:
    if any(size < 0 for size in shape):
        raise ShapeError(f"a dimension is negative in {shape}", hint="sizes count from 0")
    row_major, given = strides_for(shape), (strides, offset, mask)
    if strides is None:
        strides = row_major
    if len(strides) != len(shape) or (mask is not None and len(mask) != len(shape)):
        raise ShapeError(
            f"shape {shape}, strides {strides} and mask {mask} differ in rank",
            hint="give one entry per axis",
        )
    if 0 in shape:
        return View(shape, row_major, 0, None, True)
    if mask is not None:
        if any(not 0 <= b <= e <= size for (b, e), size in zip(mask, shape, strict=True)):
            raise ShapeError(
                f"mask {mask} leaves the shape {shape}",
                hint="give 0 <= begin <= end <= size",
            )
        if any(begin == end for begin, end in mask):
            nothing = (0,) * len(shape)
            return View(shape, nothing, 0, ((0, 0),) * len(shape), False)
        offset += sum(b * s for (b, e), s in zip(mask, strides, strict=True) if e - b == 1)
        strides = tuple(0 if e - b == 1 else s for (b, e), s in zip(mask, strides, strict=True))
        if all(b == 0 and e == size for (b, e), size in zip(mask, shape, strict=True)):
            mask = None
    strides = tuple(0 if size == 1 else s for size, s in zip(shape, strides, strict=True))
    if (strides, offset, mask) != given:
        return _canonical(shape, strides, offset, mask)  # one object per canonical form
    contiguous = offset == 0 and mask is None and strides == row_major
    return View(shape, strides, offset, mask, contiguous)
