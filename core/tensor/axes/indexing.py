"""Indexing, and the operations that pick or place elements by integer Tensors.

Picking compares positions with indices and sums what is equal; code generation turns that into
direct loads. Only boolean masks need values, and realize their mask; nothing else here runs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, Final, Self, SupportsIndex, TypeAlias, cast

import numpy as np

from core.dtype import dtypes, least_upper_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import ceildiv
from core.runtime.disk.device import is_disk
from core.tensor.axes.joining import Joining
from core.tensor.axes.subscript import Index, Subscript
from core.tensor.calls.origin import here
from core.tensor.elements.elementwise import broadcast_shape
from core.tensor.state.base import Number, TensorBase
from core.uop.uop import UOp

Item: TypeAlias = "int | UOp | slice | EllipsisType | Sequence[Any] | TensorBase | None"


_LISTS: Final = (list, tuple, range, np.ndarray)
"""What names several positions along an axis, besides a Tensor."""


def _holds_tensors(item: object) -> bool:
    """Whether it is a Tensor, or one of its elements is, in nested lists and tuples."""
    if isinstance(item, list | tuple):
        return any(map(_holds_tensors, cast("list[object]", item)))
    return isinstance(item, TensorBase)


def _axes_taken(item: Index) -> int:
    """How many axes an index names; an Ellipsis takes what is left."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, TensorBase) and dtypes.is_bool(item.dtype) else 1


class Indexing(Joining):
    """Selection by position. Indices out of range raise ShapeError where they are known, and give 0
    where they are in a Tensor."""

    __slots__ = ()

    def __getitem__(self, key: Item | tuple[Item, ...]) -> Self:
        """Integers, slices with any step, None, ..., and Tensors of integers or bools, or (nested)
        lists, tuples and ranges of these.

        Tensors and lists of integers together pick elements as in NumPy: they broadcast to one
        shape, which takes the place of the first of them, or goes to the front where an axis that
        is not indexed by one lies between.
        """
        if not self.ndim and isinstance(key, Indexing) and key.dtype is dtypes.bool:
            return self.reshape(1)[key.reshape(1)]
        x, key = self._to_lengths(key)
        subscript = x._subscript(key)
        x = x._cut(subscript)
        tensors = [(axis, x._as_index(t, axis)) for axis, t in subscript.tensors]
        return x._pick(tensors) if tensors else x

    def __iter__(self) -> Iterator[Self]:
        """The parts along the first axis, in order."""
        if not self.ndim:
            raise ShapeError(
                "iteration over a Tensor without axes",
                where=here(),
                hint="it is one number: .item() gives it, .reshape(1) adds an axis",
            )
        return (self[i] for i in range(self.shape[0]))

    def _to_lengths(self, key: Item | tuple[Item, ...]) -> tuple[Self, Item | tuple[Item, ...]]:
        """This with the lengths that slices up to a variable give it, and the rest of the key."""
        given = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(i, slice) and isinstance(i.stop, UOp) for i in given):
            return self, key
        items: list[Any] = list(given)
        indices = [self._index(item) for item in given]
        named = sum(map(_axes_taken, indices))
        x, axis = self, 0
        for k, item in enumerate(indices):
            if isinstance(item, slice) and isinstance(item.stop, UOp):
                if item.start not in (None, 0) or item.step not in (None, 1):
                    raise ShapeError(
                        "a slice up to a variable that does not begin at 0, or has a step",
                        where=here(),
                        hint="from a variable on, index with Tensor.arange(length) + variable",
                    )
                if axis < self.ndim:
                    x, items[k] = x._length(axis, item.stop), slice(None)
            axis += self.ndim - named if item is Ellipsis else _axes_taken(item)
        return x, tuple(items)

    def _subscript(self, key: Item | tuple[Item, ...]) -> Subscript:
        given = key if isinstance(key, tuple) else (key,)
        items = [self._index(item) for item in given]
        named = sum(map(_axes_taken, items))
        plain: list[Index] = []
        axis = 0
        for known, item in zip(given, items, strict=True):
            if isinstance(item, Indexing) and dtypes.is_bool(item.dtype):
                place = self.shape[axis : axis + item.ndim]
                if not item.ndim or item.shape != place:
                    raise ShapeError(
                        f"a mask of shape {item.shape} for axes of lengths {place}",
                        where=here(),
                        hint=f"the shape is {self.shape}: a mask is as long as what it selects",
                    )
                plain.extend(item.nonzero().transpose(0, 1)._rows())
            else:
                if isinstance(known, _LISTS) and axis < self.ndim and not _holds_tensors(known):
                    self._check_range(np.asarray(known), axis)
                plain.append(item)
            axis += self.ndim - named if item is Ellipsis else _axes_taken(item)
        return Subscript.parse(plain, self.shape)

    def _index(self, item: Item) -> Index:
        """One index, with lists and arrays as Tensors. Raises DTypeError for what is none."""
        if isinstance(item, list | tuple | range) and any(map(_holds_tensors, item)):
            return self._stacked(item)
        if isinstance(item, list | tuple | range | np.ndarray):
            return type(self)(item, self.device, None if len(item) else dtypes.int32)
        if item is None or isinstance(item, slice | EllipsisType | TensorBase):
            return item
        if isinstance(item, UOp):
            return type(self)(item)  # a value of variables
        if isinstance(item, SupportsIndex) and not isinstance(item, bool | np.bool_):
            return operator.index(item)
        raise DTypeError(
            f"a Tensor is not indexed by {type(item).__name__}",
            where=here(),
            hint="use integers, slices, None, ..., or Tensors of integers or bools",
        )

    def _stacked(self, items: Sequence[Any]) -> Self:
        """Nested lists of numbers and Tensors as one Tensor."""
        nested = [
            item.to(self.device) if isinstance(item, TensorBase)
            else self._stacked(item) if _holds_tensors(item)
            else type(self)(item, self.device)
            for item in items
        ]  # fmt: skip
        parts = [cast("Self", part) for part in nested]
        dtype = least_upper_dtype(*(part.dtype for part in parts))
        return parts[0].cast(dtype).stack(*(part.cast(dtype) for part in parts[1:]))

    def _check_range(self, indices: np.ndarray[Any, Any], axis: int) -> None:
        """Raises ShapeError where one of `indices` is outside the axis."""
        length = self.shape[axis]
        outside = indices[(indices < -length) | (indices >= length)]
        if outside.size and np.issubdtype(indices.dtype, np.integer):
            raise ShapeError(
                f"index {outside[0]} is out of range on axis {axis}",
                where=here(),
                hint=f"the shape is {self.shape}",
            )

    def _rows(self) -> list[Index]:
        return [self._part(0, i, i + 1).squeeze(0) for i in range(self.shape[0])]

    def _cut(self, subscript: Subscript) -> Self:
        """The part that integers and slices name, in the shape before Tensors pick from it."""
        single = all(abs(step) == 1 for step in subscript.steps)
        if single and (self.place is None or not self.place.repeats):
            cut = self.uop.shrink(subscript.bounds).flip([step < 0 for step in subscript.steps])
            return self._moved(cut.reshape(subscript.shape))  # one view and none on the way
        x = self.shrink(subscript.bounds).flip([i for i, s in enumerate(subscript.steps) if s < 0])
        for axis, step in enumerate(subscript.steps):
            if abs(step) > 1:
                x = x._every(axis, abs(step))
        return x.reshape(subscript.shape)

    def _every(self, axis: int, step: int) -> Self:
        count = ceildiv(self.shape[axis], step)
        widths = [(0, 0)] * self.ndim
        widths[axis] = (0, count * step - self.shape[axis])
        x = self._moved(self.uop.pad(widths))
        split = x.reshape((*self.shape[:axis], count, step, *self.shape[axis + 1 :]))
        return split._part(axis + 1, 0, 1).squeeze(axis + 1)

    def _as_index(self, index: TensorBase, axis: int) -> Self:
        """Positions along an axis, counted from its end made positive, in a dtype that holds all of
        them. Raises ShapeError for a value of variables that may be out of range."""
        if not dtypes.is_int(index.dtype):
            raise DTypeError(
                f"an index of {index.dtype}",
                where=here(),
                hint="index with integers or a bool mask",
            )
        length = self.shape[axis]
        least, most = index.uop.bounds
        if index.uop.device is None and not -length <= least <= most < length:
            raise ShapeError(
                f"an index of {least} to {most} on an axis of {length} elements",
                where=here(),
                hint=f"use a variable of at least 0 and at most {length - 1}",
            )
        made = self._new(index.uop, False)
        if dtypes.is_unsigned(made.dtype):
            return made
        made = made.cast(least_upper_dtype(made.dtype, dtypes.index_up_to(length)))
        variable = dict(self.uop.lengths).get(axis)
        end = length if variable is None else self._new(variable, False)
        return (made < 0).where(made + end, made)

    def _pick(self, tensors: list[tuple[int, Self]]) -> Self:
        """The elements at index tensors, one (axis, positions) pair each."""
        axes = [axis for axis, _ in tensors]
        shape = broadcast_shape(*(t.shape for _, t in tensors))
        together = axes == list(range(axes[0], axes[0] + len(axes)))
        at = axes[0] if together else 0
        rank = len(shape)
        # the result's index axes go in before axis `at`, then the picked axes are summed away
        x = self.reshape((*self.shape[:at], *[1] * rank, *self.shape[at:]))
        mask: Self | None = None
        for axis, index in tensors:
            moved = axis + rank if axis >= at else axis
            places = x._positions(moved)
            lead = index._broadcast_to(shape).reshape(
                [shape[i - at] if at <= i < at + rank else 1 for i in range(x.ndim)]
            )
            here_ = lead == places
            mask = here_ if mask is None else mask & here_
        assert mask is not None
        moved_axes = tuple(a + rank if a >= at else a for a in axes)
        return x._or_zero(mask)._sum_exact(moved_axes)

    def _sum_exact(self, axes: tuple[int, ...]) -> Self:
        """The sum of values of which at most one is not 0, which needs no wider dtype."""
        if dtypes.is_bool(self.dtype):
            return self.any(axes)
        return self.sum(axes, dtype=self.dtype)

    def __setitem__(self, key: Item | tuple[Item, ...], value: Self | Number) -> None:
        """Stores `value`, broadcast and cast, in the elements that `key` names, as `assign` does:
        this Tensor changes, and with it what is a view of it or it is a view of.

        Of elements that index Tensors name several times the last one is stored; indices out of
        range store nothing. A file takes values from every device.

        Raises ShapeError where the value does not broadcast to the place, DeviceError where it is
        elsewhere, and GradientError for a leaf that requires a gradient.
        """
        self._check_in_place()
        self._check_repeats()
        if isinstance(value, TensorBase) and is_disk(self.device):
            new = value.cast(self.dtype)
        else:
            new = self._operand(value).cast(self.dtype)
        mask = key if isinstance(key, Indexing) and dtypes.is_bool(key.dtype) else None
        if mask is not None and mask.shape == self.shape and new.numel() == 1:
            self._take(mask.where(new.reshape(()), self))  # without looking at its values
            return
        subscript = self._subscript(key)
        part = self._cut(subscript)
        if not subscript.tensors:
            if not isinstance(value, Indexing) or not value._is_same_view(part):
                part._take(new._broadcast_to(part.shape))
            return
        # where each named element is in the flat Tensor, counted from 1: 0 is out of range
        places = type(self)._iota(self.numel(), self.device).reshape(self.shape) + 1
        named = places._cut(subscript)._pick(
            [(axis, part._as_index(t, axis)) for axis, t in subscript.tensors]
        )
        if not named.numel():
            return
        flat = self.flatten().scatter(
            0, named.flatten() - 1, new._broadcast_to(named.shape).flatten()
        )
        self._take(flat.reshape(self.shape))

    def _is_same_view(self, other: Self) -> bool:
        """Whether the two are views of one value and the same part of it."""
        mine, place = self.place, other.place
        same = mine is not None and place is not None and mine.storage is place.storage
        return same and mine is not None and place is not None and mine.form is place.form

    # by index tensors along one axis

    def gather(self, dim: int, index: Self) -> Self:
        """result[i, j] = self[index[i, j], j] for dim 0, and so on for every axis and rank.

        Raises ShapeError where `index` is longer than this on another axis.
        """
        axis = self._axis(dim)
        self._check_index("gather", index, self, axis)
        if not self.ndim:
            return self.reshape(1).gather(0, index.reshape(1)).reshape(())
        x = self.shrink([None if i == axis else (0, n) for i, n in enumerate(index.shape)])
        # the axis to pick from goes last, and a length 1 stands in its place
        moved = x.permute([*(i for i in range(x.ndim) if i != axis), axis]).unsqueeze(axis)
        mask = self._as_index(index, axis).unsqueeze(-1) == moved._positions(x.ndim)
        return moved._or_zero(mask)._sum_exact((x.ndim,))

    def _check_index(self, name: str, index: Self, source: Self, axis: int) -> None:
        if not dtypes.is_int(index.dtype):
            raise DTypeError(
                f"{name} with an index of {index.dtype}", where=here(), hint="indices are integers"
            )
        fits = index.ndim == source.ndim and all(
            i == axis or a <= b
            for i, (a, b) in enumerate(zip(index.shape, source.shape, strict=False))
        )
        if not fits:
            raise ShapeError(
                f"{name} with an index of {index.shape} in {source.shape}",
                where=here(),
                hint=f"it may be longer only on axis {axis}",
            )

    def scatter(self, dim: int, index: Self, src: Self | Number, reduce: str | None = None) -> Self:
        """This with self[index[i, j], j] = src[i, j] for dim 0, and so on; the last of equals wins.

        `reduce` "add" or "multiply" combines all of them with what is there instead.
        """
        if reduce is not None and reduce not in ("add", "multiply"):
            raise DTypeError(
                f"unknown reduction {reduce!r}", where=here(), hint='use None, "add" or "multiply"'
            )
        if not self.ndim:
            self._axis(dim)
            self._check_index("scatter", index, self, 0)
            values = src.reshape(-1) if isinstance(src, TensorBase) else src
            return self.reshape(1).scatter(0, index.reshape(1), values, reduce).reshape(())
        mask, values = self._scattered(dim, index, src)
        if not mask.shape[-1]:
            return self._same_value()
        if reduce == "add":
            return self + mask.where(values, 0).sum(-1, dtype=self.dtype)
        if reduce == "multiply":
            return self * mask.where(values, 1).prod(-1, dtype=self.dtype)
        count = mask.shape[-1]
        order = type(self)._iota(count, self.device)
        last = mask.where(order, -1).max(-1, keepdim=True)
        value = values._or_zero(order == last)._sum_exact((self.ndim,))
        return (last.squeeze(-1) >= 0).where(value, self)

    def _scattered(self, dim: int, index: Self, src: Self | Number) -> tuple[Self, Self]:
        """For every element of this and every source along `dim`, as a last axis: whether that
        source goes there, and its value."""
        axis = self._axis(dim)
        self._check_index("scatter", index, self, axis)
        values = src if isinstance(src, TensorBase) else self._operand(src).cast(self.dtype)
        values = values._broadcast_to(index.shape) if not values.ndim else values
        self._check_index("scatter", index, values, -1)
        values = values.shrink([(0, n) for n in index.shape]).cast(self.dtype)
        last = [i for i in range(self.ndim) if i != axis] + [axis]
        picks = index.permute(last).unsqueeze(axis)
        places = self._positions(axis).unsqueeze(-1)
        mask = (picks == places)._pad_axes(self.shape, axis)
        values = values.permute(last).unsqueeze(axis)._pad_axes(self.shape, axis)
        for counted, n in values.uop.lengths:  # what is behind a length goes nowhere
            mask = mask._length(counted, n)
        return mask, values

    def _pad_axes(self, shape: Sequence[int], but: int) -> Self:
        """Zeros up to `shape` on every axis except `but` and the last."""
        return self._pad_zeros(
            [
                (0, 0 if i == but else n - m)
                for i, (n, m) in enumerate(zip(shape, self.shape, strict=False))
            ]
            + [(0, 0)]
        )

    # by masks, which need values

    def _first(self, size: int) -> tuple[Self, Self]:
        """Where the first `size` elements of a mask are that hold, and whether there are so many:
        0 where there are not."""
        if size < 0:
            raise ShapeError(f"a size of {size}", where=here(), hint="give 0 or more")
        number = self.cast(dtypes.int32).cumsum() * self.cast(dtypes.int32)  # from 1 on; else 0
        wanted = type(self)._iota(size, self.device) + 1
        chosen = (wanted.unsqueeze(1) == number).cast(dtypes.int32)
        places = (chosen * type(self)._iota(self.shape[0], self.device)).sum(1)
        return places, wanted <= self.cast(dtypes.int32).sum()

    def nonzero(self, size: int | None = None, fill_value: int = 0) -> Self:
        """The indices of the elements that are not zero, one row each. Realizes this Tensor.

        With a `size` it does not: these are the first so many, and rows of `fill_value` after them.
        """
        if size is not None:
            flat, there = self.ne(0).flatten()._first(size)
            places: list[Self] = []
            for n in reversed(self.shape):
                places.insert(0, flat % max(1, n))
                flat = flat // max(1, n)
            rows = places[0].stack(*places[1:], dim=1) if places else flat.reshape(size, 1)[:, :0]
            return there.unsqueeze(1).where(rows, fill_value)
        found = np.argwhere(self.numpy()).astype(np.int32)
        return type(self)(np.ascontiguousarray(found), self.device)
